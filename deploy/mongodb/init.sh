#!/bin/bash
# Makes the replica set and Prejoin's user. Safe to run again.
set -euo pipefail
mongosh --quiet "mongodb://root:$MONGODB_ROOT_PASSWORD@mongodb:27017/admin?directConnection=true" /init.js
