# SPDX-License-Identifier: Apache-2.0
"""Stands in for the real one: see build_meta.py."""
