"""A sum that nobody sees the parts of: devices hide their sums behind masks that cancel, also when some drop out.

    terms.py      what a round is about; how many bits, so that nothing wraps
    vector.py     a device's sums as one vector of integers, and back
    shamir.py     a secret in shares, any t of which give it back
    keys.py       key agreement, encryption of shares, masks from seeds: by the package cryptography (bitreplay[fleet])
    device.py     the four answers of a device
    server.py     the four questions of a server, and the sum

The protocol is SecAgg+ (Bonawitz et al., 2017; Bell et al., 2020), on integers modulo 2^k. Device u has a vector x_u, a
seed b_u, and with each neighbour v a seed s_uv that both find by key agreement. It sends

    y_u = x_u + PRG(b_u) + sum over v > u of PRG(s_uv) - sum over v < u of PRG(s_uv)     mod 2^k

Over all devices the last two sums cancel. Neighbours hold shares of b_u and of u's private key: the server gets back
b_u if y_u came, the key if it did not, never both, since a device gives a share of one of them only.
"""
