"""A SuperLink and SuperNodes with TLS on loopback, as processes; one is killed, one damages what it sends."""

from __future__ import annotations

import datetime
import ipaddress
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from bitreplay.data.archives import files
from bitreplay.data.groceries import ARCHIVE

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
TROUBLE = '''

def trouble(message, context, call_next):
    """A Flower mod: this device damages what it sends, or waits to be killed when the step comes."""
    import pathlib
    import time

    kind, step = context.node_config.get("trouble", ""), message.metadata.message_type.partition(".")[2]
    if kind == "killed" and step in ("sums", "masked"):
        pathlib.Path(str(context.node_config["asked"])).touch()
        time.sleep(300)
    reply = call_next(message, context)
    if kind == "damages":
        record = reply.content.config_records["bitreplay"]
        for name in ("message", "vector"):
            if name in record:
                data = bytearray(record[name])
                data[len(data) // 2] ^= 16
                record[name] = bytes(data)
    return reply


app = client_app(own, min_pictures=2, mods=[trouble])
'''


def certificates(folder: Path) -> None:
    """A certificate authority, and a certificate of 127.0.0.1 that it signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.timezone.utc)

    def made(name, key, issuer, issuer_key, authority):
        addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        return (
            x509.CertificateBuilder().subject_name(name).issuer_name(issuer).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=2))
            .add_extension(x509.BasicConstraints(authority, None), critical=True)
            .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .sign(issuer_key, hashes.SHA256())
        )  # fmt: skip

    def named(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    root = made(named("a chain of shops"), authority_key, named("a chain of shops"), authority_key, True)
    leaf = made(named("localhost"), key, named("a chain of shops"), authority_key, False)
    (folder / "ca.crt").write_bytes(root.public_bytes(pem))
    (folder / "server.pem").write_bytes(leaf.public_bytes(pem))
    (folder / "server.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def photographs(folder: Path, devices: int, each: int) -> list[Path]:
    """A folder of class folders for each device: other photographs of the same three fruits."""
    found: dict[str, list[bytes]] = {}
    for name, content in files(ARCHIVE, ".webp"):
        part, label = name.split("/")[-3:-1]
        if part == "train":
            found.setdefault(label, []).append(content)
    labels = sorted(found, key=lambda label: -len(found[label]))[:3]
    for device in range(devices):
        for label in labels:
            place = folder / f"device-{device}" / label
            place.mkdir(parents=True)
            for number, content in enumerate(found[label][device * each : (device + 1) * each]):
                (place / f"{number}.webp").write_bytes(content)
    return [folder / f"device-{device}" for device in range(devices)]


class Deployment:
    """`trouble` is by the number of the device."""

    def __init__(self, folder: Path, folders: list[Path], trouble: dict[int, str]) -> None:
        self.folder = folder
        self._processes: dict[str, subprocess.Popen] = {}
        if not (folder / "ca.crt").exists():
            certificates(folder)
        self.app = folder / "app"
        shutil.copytree(ROOT / "examples" / "fleet", self.app)
        with (self.app / "scales" / "client.py").open("a") as file:
            file.write(TROUBLE)
        self.port = port = free_port()
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "tls"\n[superlink.tls]\naddress = "127.0.0.1:{port}"\n'
            f'root-certificates = "{folder / "ca.crt"}"\n'
        )
        self._environment = os.environ | {"FLWR_HOME": str(home), "PYTHONPATH": str(ROOT / "src"),
                                          "FLWR_TELEMETRY_ENABLED": "0", "OMP_NUM_THREADS": "1",
                                          "PATH": f"{BIN}:{os.environ['PATH']}"}  # fmt: skip
        self._start("superlink", "flower-superlink", "--ssl-ca-certfile", "ca.crt", "--ssl-certfile", "server.pem",
                    "--ssl-keyfile", "server.key", "--port", str(port),
                    "--disable-runtime-dependency-installation")  # fmt: skip
        self._wait_for(port)
        for number, photos in enumerate(folders):
            config = f'device="device-{number}" folder="{photos}" asked="{folder / f"asked-{number}"}"'
            config += f' trouble="{trouble[number]}"' if number in trouble else ""
            self.start_node(f"supernode-{number}", folder / "ca.crt", config)

    def start_node(self, name: str, authority: Path, config: str) -> None:
        self._start(name, "flower-supernode", "--root-certificates", str(authority), "--superlink",
                    f"127.0.0.1:{self.port}", "--port", str(free_port()), "--node-config", config)  # fmt: skip

    def run(self, limit: float, **config: object) -> str:
        """Run the app to its end; whoever was asked and waits to be killed is killed. What the server printed."""
        pairs = " ".join(f"{name.replace('_', '-')}={_toml(value)}" for name, value in config.items())
        log = self.folder / f"run-{time.monotonic_ns()}.log"
        with log.open("w") as file:
            command = [str(BIN / "flwr"), "run", str(self.app), "--stream", "--run-config", pairs]
            run = subprocess.Popen(command, env=self._environment, stdout=file, stderr=subprocess.STDOUT)
        end = time.monotonic() + limit
        while run.poll() is None and time.monotonic() < end and " devices\n" not in log.read_text():
            for asked in self.folder.glob("asked-*"):
                self.kill(f"supernode-{asked.name.partition('-')[2]}")
                asked.unlink()
            time.sleep(0.3)
        if run.poll() is None:
            run.terminate()
            run.wait()
        return log.read_text()

    def kill(self, name: str) -> None:
        """As if its power had failed: it and what it started."""
        process = self._processes.pop(name, None)
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self) -> None:
        for name in list(self._processes):
            self.kill(name)

    def logs(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-2000:]}" for path in sorted(self.folder.glob("*.log")))

    def _start(self, name: str, program: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("w") as log:
            self._processes[name] = subprocess.Popen(
                [str(BIN / program), *arguments], cwd=self.folder, env=self._environment, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def _wait_for(self, port: int) -> None:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError(f"The SuperLink does not listen.\n{self.logs()}")


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | int | float) else f"'{value}'"
