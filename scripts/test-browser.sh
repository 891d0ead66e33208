#!/bin/sh
# Gets Chromium from Debian's packages for the tests of Studio's page. Where that is not possible they skip, and say so.
set -eu
if [ -x "${TRINITY_CHROMIUM:-/usr/bin/chromium}" ]; then exit 0; fi
if ! (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium) >/dev/null; then
  echo 'Chromium could not be installed (that takes root and apt-get): the tests of Studio will skip'
fi
