"""Real processes: a SuperLink and SuperNodes with TLS, one killed while it answers, one that damages what it sends."""

from __future__ import annotations

import os
import re
import time

import pytest

from bitreplay import Learner, labelled

pytest.importorskip("flwr", reason="Flower is not installed: pip install 'bitreplay[flower]', or make test-fleet")
pytestmark = pytest.mark.slow

from tests.fleet.deployment import ROOT, Deployment, certificates, photographs  # noqa: E402

FULL = "BITREPLAY_SUPERNODES" in os.environ  # make fleet-full
DEVICES = int(os.environ.get("BITREPLAY_SUPERNODES", "6"))
KILLED, DAMAGES = 2, DEVICES - 1


def one_learner(folders) -> Learner:
    learner = Learner.from_pretrained("react_tiny", n_components=128)
    for folder in folders:
        learner.learn(*labelled(folder))
    return learner


@pytest.mark.parametrize("masked", [False, True] if FULL else [True])
def test_a_killed_and_a_damaging_node_are_left_out_and_the_rest_has_one_hash(tmp_path, masked):
    folders, start = photographs(tmp_path / "photos", DEVICES, 3), time.monotonic()
    deployment = Deployment(tmp_path, folders, {KILLED: "killed", DAMAGES: "damages"})
    try:
        printed = deployment.run(
            240, masked=masked, least_devices=DEVICES, timeout=30.0, out=str(tmp_path / "chain.state")
        )
        assert (tmp_path / "chain.state").exists(), printed + deployment.logs()
    finally:
        deployment.stop()
    came = [folder for number, folder in enumerate(folders) if number not in (KILLED, DAMAGES)]
    assert Learner.load(tmp_path / "chain.state").state_hash() == one_learner(came).state_hash(), printed
    assert len(re.findall(" counted ", printed)) == len(came) and "damaged" in printed, printed
    if FULL:
        record(masked, len(came), round(time.monotonic() - start), one_learner(came).state_hash())


def record(masked: bool, counted: int, seconds: int, state_hash: str) -> None:
    """A row for docs/fleet.md, once all of it was as it must be."""
    path = ROOT / "experiments" / "results" / "fleet_deployment.csv"
    new = not path.exists()
    with path.open("a") as file:
        if new:
            file.write("supernodes,masked,tls,killed,damaging,counted,seconds,same_hash,hash\n")
        file.write(f"{DEVICES},{masked},True,1,1,{counted},{seconds},True,{state_hash[:16]}\n")


def test_a_stranger_between_is_noticed(tmp_path):
    """Whoever listens with a certificate of another authority is refused, and so is who does not speak TLS."""
    import socket
    import ssl

    for name in ("ours", "stranger"):
        (tmp_path / name).mkdir()
        certificates(tmp_path / name)
    deployment = Deployment(tmp_path / "ours", [], {})
    try:
        for authority, believed in (("ours", True), ("stranger", False)):
            context = ssl.create_default_context(cafile=tmp_path / authority / "ca.crt")
            with socket.create_connection(("127.0.0.1", deployment.port), 10) as plain:
                if believed:
                    with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                        assert connection.version() in ("TLSv1.2", "TLSv1.3")
                else:
                    with pytest.raises(ssl.SSLCertVerificationError):
                        context.wrap_socket(plain, server_hostname="127.0.0.1")
        with socket.create_connection(("127.0.0.1", deployment.port), 10) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert not plain.recv(100).startswith(b"HTTP/1.1 200")
        deployment.start_node("impostor", tmp_path / "stranger" / "ca.crt", 'device="a" folder="/nowhere"')
        for _ in range(60):
            if "certificate verify failed" in deployment.logs().lower():
                break
            time.sleep(0.5)
        assert "certificate verify failed" in deployment.logs().lower(), deployment.logs()
    finally:
        deployment.stop()
