# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

raise LoadError, "there is no JavaScript here"
