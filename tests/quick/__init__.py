# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a client, a server process, text cells, a look into /proc."""
