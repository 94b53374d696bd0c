"""How Mininet-WiFi computes what arrives: names that scripts give to `Mininet_wifi(wmediumd_mode=...)`."""

from __future__ import annotations


class snr:
    """By ratios of signal to noise."""


class error_prob:
    """By the share of packets that gets lost on each link."""


class interference:
    """By positions, which is what media of a lab do."""


class spec_prob:
    """By shares for each size and rate."""


__all__ = ["error_prob", "interference", "snr", "spec_prob"]
