# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""That the operating documents name what there is: error texts, flags, variables, files."""
import re
import unittest

import deployment
from deployment import ROOT

GUIDES = ("operating", "containers", "kubernetes", "scaling", "protocol", "security")


def code_text():
    """The sources of server, library and tool, with the string literals joined that the compiler joins."""
    text = []
    for folder in ("server", "client", "kernels", "proto/wire"):
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            text.append(re.sub(r'"\s*"', "", path.read_text()))
    return "\n".join(text)


def error_texts():
    """The texts in the first column of operating.md's tables, split where an ellipsis stands for a value."""
    guide = (ROOT / "docs/operating.md").read_text()
    for line in guide.split("## Troubleshooting", 1)[1].splitlines():
        if line.startswith("|"):
            # Too short a piece says nothing.
            for text in re.findall(r"`([^`]+)`", line.split("|")[1]):
                yield from (piece.strip() for piece in text.split("…") if len(piece.strip()) >= 9)


# Not ours: what the system says, after which the guide tells apart.
SYSTEM = {"No such file or directory", "Connection refused", "Permission denied"}


class DocsTest(unittest.TestCase):
    def test_error_texts_are_the_programs(self):
        code = code_text()
        texts = [text for text in error_texts() if text not in SYSTEM]
        self.assertGreater(len(texts), 40)
        self.assertEqual([text for text in texts if text not in code], [])

    def test_variables_exist(self):
        known = deployment.variables_of_programs()
        for name in GUIDES:
            used = set(re.findall(r"\bGDNPLAN_[A-Z_]+", (ROOT / f"docs/{name}.md").read_text()))
            self.assertEqual(used - known, set(), name)

    def test_figures_of_the_capacity_model_are_measured_ones(self):
        guide = (ROOT / "docs/scaling.md").read_text()
        results = (ROOT / "docs/benchmarks/results.md").read_text()
        latencies = re.findall(r"\b(\d+\.\d) us \((\d+)\)", guide)
        rates = re.findall(r"\b\d{2,3},\d{3}\b", guide)
        self.assertGreaterEqual(len(latencies), 4)
        self.assertGreaterEqual(len(rates), 8)
        for median, tail in latencies:
            self.assertIn(f"{median} ({tail})", results)
        for rate in rates:
            self.assertIn(f" {rate} ", results)

    def test_files_exist(self):
        for name in GUIDES:
            text = (ROOT / f"docs/{name}.md").read_text()
            for link in re.findall(r"\]\(([^)#:]+)\)", text):
                self.assertTrue((ROOT / "docs" / link).exists(), f"{name}: {link}")
            for path in re.findall(r"\b(?:docker|scripts|client|proto|tests)/[\w./-]*\w", text):
                self.assertTrue((ROOT / path).exists(), f"{name}: {path}")


if __name__ == "__main__":
    unittest.main()
