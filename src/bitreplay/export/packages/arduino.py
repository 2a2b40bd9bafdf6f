"""An Arduino library: library.properties, src/, examples/ (the 1.5 format of the Arduino library specification)."""

from __future__ import annotations

from bitreplay.export.packages.package import ABOUT, TITLE, Package, examples, version

ARCHITECTURES = {
    "esp32": "esp32", "esp32s3": "esp32", "esp32c3": "esp32", "esp32p4": "esp32", "rp2040": "rp2040,mbed_rp2040",
    "rp2350": "rp2040", "nrf52840": "mbed_nano,mbed,nrf52,nrf52840", "stm32h7": "mbed_giga,mbed_portenta,stm32",
}  # fmt: skip


def files(package: Package) -> dict[str, str]:
    properties = {
        "name": "bitreplay",
        "version": version(),
        "author": "The bitreplay authors",
        "maintainer": "The bitreplay authors",
        "sentence": f"{TITLE}.",
        "paragraph": f"{ABOUT} Model: {package.about['model']}, {package.about['classes']} classes.",
        "category": "Data Processing",
        "url": "https://pypi.org/project/bitreplay/",
        "architectures": ARCHITECTURES[package.target],
        "includes": "bitreplay_device.h",
    }
    text = "".join(f"{key}={value}\n" for key, value in properties.items())
    return {"library.properties": text} | examples("arduino")
