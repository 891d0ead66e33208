"""Trinity's hand in a Ray cluster: a driver that asks Ray for room, and keepers that run workers on its nodes."""
