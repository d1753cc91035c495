# SPDX-License-Identifier: Apache-2.0
"""Stands in for the packages' build backend while pip downloads their sources: pip asks it for the metadata, which a
source distribution holds already, and would otherwise configure the whole package to learn it."""

import email
import os
import shutil


def prepare_metadata_for_build_wheel(directory, settings=None):
    with open("PKG-INFO", encoding="utf-8") as file:
        package = email.message_from_file(file)
    name = f"{package['Name']}-{package['Version']}.dist-info"
    os.makedirs(os.path.join(directory, name))
    shutil.copy("PKG-INFO", os.path.join(directory, name, "METADATA"))
    with open(os.path.join(directory, name, "WHEEL"), "w", encoding="utf-8") as file:
        file.write("Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    return name


def get_requires_for_build_wheel(settings=None):
    return []
