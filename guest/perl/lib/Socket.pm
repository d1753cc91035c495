# SPDX-License-Identifier: Apache-2.0
package Socket;
die "Socket is not possible: there are no sockets here\n";
