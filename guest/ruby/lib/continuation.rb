# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

raise LoadError, "continuations are not possible here; Fiber and Enumerator are"
