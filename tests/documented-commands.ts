import type { Covering } from '../scripts/documented-commands.ts'

const here = (prints: string): Covering => ({ here: prints })
const serves: Covering = { serves: true }
const by = (file: string, words: string): Covering => ({ by: file, words })
const not = (reason: string): Covering => ({ not: reason })

const administering = by('packages/server/src/administration/admin.test.ts', 'works as documented')
const restored = by('tests/prove/operate-restore.ts', "blockOf('restore')")
const docker = not('needs Docker; tests/deploy runs the image and the settings of compose.yaml with runc')
const backups = by('tests/deploy/backup.test.ts', "run('restore.sh', backup.output)")
const host = not('changes the machine; tests/deploy/files.test.ts checks the files with systemd and nginx')

/**
 * Every command in the documentation, word for word, and how it is tested. `here('words')`: documentation.test.ts runs it, and
 * its output contains the words. `serves`: that test starts it and waits until it is healthy. `by('file', 'words')`: the file
 * runs it, and contains the words. `not('reason')`: no test can run it.
 */
export const registry: Record<string, Covering> = {
  // Setup
  'git clone <this repository> lockstep && cd lockstep': not('the URL of the repository is a placeholder'),
  'npm ci && npm run demo': by('tests/demo.test.ts', "['npm', 'run', 'demo', '--']"),
  'npm ci && npm run build && npm ci --omit=dev -w packages/server': by('tests/supply-chain.test.ts', '[SEC-10]'),
  'PATH="$(node scripts/install-node.mjs):$PATH"': by('.ci/run', 'node_path=$(node scripts/install-node.mjs)'),
  'node scripts/release-dates.ts': not('asks the registry; [SEC-11] checks the recorded dates'),
  'npm ci': by('.ci/run', 'npm ci'),
  'npm test -- api-examples --update': by('tests/api-examples.test.ts', 'toMatchFileSnapshot'),
  'npm run build': by('scripts/build-web.ts', "['run', 'build']"),
  'npm run build -w packages/client': by('scripts/check.ts', 'scripts/build-client.ts'),
  'npm run build -w packages/cli': by('scripts/check.ts', 'scripts/build-cli.ts'),
  'npm init -y && npm pkg set type=module': by('tests/packages.test.ts', 'npm init -y && npm pkg set type=module'),
  'npm install': by('tests/packages.test.ts', "'install'"),
  'npm install ../../packages/client/dist': by('tests/examples.test.ts', "'pack'"),
  'LOCKSTEP_TOKEN=lsb_… npm start -- <board id> 3': by('tests/examples.test.ts', '[EXAMPLE-2]'),
  'WEBHOOK_SECRETS=whsec_… npm start -- events.jsonl': by('tests/examples.test.ts', '[EXAMPLE-4]'),
  'npm run release -- <version>': by('tests/release.test.ts', '[REL-1]'),

  // The service
  'npm run dev': serves,
  'npm start': serves,
  'npm run dev -w packages/web': not('a development server on a fixed port; the tests of the web client run its build'),
  'npm run demo': by('tests/demo.test.ts', "['npm', 'run', 'demo', '--']"),
  'DATABASE_URL=postgres://… npm run demo': by('tests/demo.test.ts', '[DEMO-5]'),
  'openssl rand -base64 48': here('\n'),
  'openssl rand -base64 32': here('=\n'),
  'npm run migrate': here('Nothing to migrate.'),
  'npm run seed': by('tests/documented-commands.ts', 'npm run seed -- --boards 20'),
  'npm run seed -- --boards 20 --cards 100': here('Log in as '),
  'npm run seed -- --boards 1000 --cards 1000': not('takes four minutes; the same with fewer boards is run here'),
  'npm run admin': by('packages/server/src/administration/admin.test.ts', '[AUTH-23]'),
  'npm run admin -- new-epoch': here('begin a new epoch'),
  'npm run admin -- recount': here('boards will be counted again'),
  'npm run admin -- create-superuser --email root@example.com --username root': here('root@example.com: created'),
  'npm run admin -- deactivate ada@example.com': here('ada@example.com: deactivated'),

  // A first board
  'api=http://127.0.0.1:8000': here(''),
  [`curl $api/auth/register --json '{"email":"ada@example.com","username":"ada","password":"correct horse"}'`]:
    here('"username":"ada"'),
  [`token=$(curl -s $api/auth/login -d username=ada@example.com --data-urlencode 'password=correct horse' | grep -o 'eyJ[^"]*')`]:
    here(''),
  [`curl $api/boards -H "Authorization: Bearer $token" --json '{"title":"Plan"}'`]: here('"title":"Plan"'),

  // Command line
  'npx @lockstep/cli': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'npx @lockstep/cli …': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'npx @lockstep/cli login': by('packages/cli/src/login.test.ts', "'login'"),
  'npx @lockstep/cli seed --new Demo': here('Added 30 cards'),
  'npx @lockstep/cli watch Demo': by('packages/cli/src/watch.test.ts', "['watch', board.id]"),
  'npx @lockstep/cli doctor <url>': here('✓'),
  'npx lockstep': not('the page advises against it'),
  'npm install --global @lockstep/cli': not(
    'it is not in a registry yet; tests/packages.test.ts installs the packed package',
  ),
  'lockstep login --url http://127.0.0.1:8000 --email ada@example.com': by(
    'packages/cli/src/readme.test.ts',
    '[CLI-7]',
  ),
  'lockstep seed --new Café': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep boards': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep add Café doing "Repair the grinder"': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep due repair 2026-11-20': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep move repair waiting --position 0': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep show Café': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep doctor --board Café': by('packages/cli/src/readme.test.ts', '[CLI-7]'),
  'lockstep watch Café': by('packages/cli/src/watch.test.ts', "['watch', board.id]"),
  [String.raw`lockstep show Café --json | jq -r '.columns[] | "\(.title): \(.cards | length)"'`]: by(
    'packages/cli/src/boards.test.ts',
    "['show', word, '--json']",
  ),
  'lockstep tokens new --name CI --scope write --board Plan --days 30': by(
    'packages/cli/src/tokens.test.ts',
    "['tokens', 'new', '--name', 'CI',",
  ),
  'curl $api/boards -H "Authorization: Bearer $LOCKSTEP_TOKEN"': by(
    'packages/server/src/tokens/tokens.test.ts',
    'acts as its user',
  ),

  // Integrations: a test runs the commands of the page
  ...Object.fromEntries(
    [
      'export WEBHOOK_SECRET=whsec_$(openssl rand -base64 32)',
      'node receiver.ts',
      'lockstep webhooks listen Plan --to http://localhost:3000/hook',
      'lockstep webhooks new Plan https://ci.example.com/hook --name CI --kinds card.created,card.moved',
      'lockstep webhooks secret Plan CI',
      'lockstep webhooks test Plan CI',
      'lockstep webhooks Plan',
      `webhook=$(curl -s "$api/boards/$board/webhooks" -H "Authorization: Bearer $token" --json '{"name":"Chat","url":"https://ci.example.com/hook"}' | grep -o '"id":"[^"]*' | cut -c7-)`,
      'curl "$api/boards/$board/webhooks/$webhook/secret" -H "Authorization: Bearer $token"',
      'curl "$api/boards/$board/webhooks/$webhook/test" -H "Authorization: Bearer $token" -X POST',
      'lockstep webhooks deliveries Plan CI',
      'lockstep webhooks resume Plan CI',
      'lockstep webhooks rotate Plan CI',
      'lockstep tokens new --name bot --scope write --board Plan',
    ].map((command) => [command, by('tests/integrations.test.ts', '[DOC-28]')]),
  ),

  // Development
  'npm run': not('the prefix of all scripts, not a command'),
  'npm test': by('.ci/run', 'npm test'),
  'npm test -- cards': by('scripts/test.ts', '...process.argv.slice(2)'),
  'JOURNEYS=all npm test -- tests/web': by('vitest.config.ts', 'JOURNEYS'),
  'SIMULATION_SEEDS=3000 npm test -- hub': by('packages/server/src/realtime/hub.test.ts', 'SIMULATION_SEEDS'),
  'npm run check': by('.ci/run', 'npm run check'),
  'npm run generate': by('scripts/check.ts', 'scripts/generate.ts'),
  'npm run format': by('scripts/check.ts', "['biome', 'ci', '.']"),
  'npm run acceptance -- http://127.0.0.1:8000': by('tests/acceptance.test.ts', 'acceptance'),

  // Administering: a test runs the commands of the page
  'node packages/server/src/administration/admin.ts': by('tests/deploy/deploy.test.ts', "compose.run('migrate'"),
  'npm run admin -- create-user --email eve@example.com --username eve --generate': administering,
  'npm run admin -- create-user': administering,
  'npm run admin -- invite': administering,
  'npm run admin -- invite --email bob@example.com': administering,
  'npm run admin -- invitations': administering,
  'npm run admin -- reset-link ada@example.com': administering,
  'npm run admin -- reset-link': administering,
  'npm run admin -- activate ada@example.com': administering,
  'npm run admin -- reset-password ada@example.com': administering,
  'npm run admin -- reset-password ada@example.com --generate': administering,
  'npm run admin -- tokens ada@example.com': administering,
  'npm run admin -- revoke-tokens ada@example.com': administering,
  'npm run admin -- tokens <user>': administering,
  'npm run admin -- revoke-tokens <user>': administering,
  'npm run admin -- statistics': administering,
  'npm run admin -- export ada@example.com --out ada.json': administering,
  'npm run admin -- erase ada@example.com': administering,
  'npm run admin -- audit --limit 20': administering,
  'npm run admin -- reencrypt': by('packages/server/src/administration/reencrypt.test.ts', "[script, 'reencrypt']"),
  'JWT_SECRET_FILE=/run/secrets/jwt DATABASE_URL_FILE=/run/secrets/database npm start': by(
    'packages/server/src/config/read-config.test.ts',
    '[CONF-1]',
  ),

  // Deploying
  'deploy/make-secrets.sh': by('tests/deploy/secrets.ts', 'deploy/make-secrets.sh'),
  'echo DOMAIN=boards.example.com > .env': by('tests/deploy/caddy.test.ts', "launchCaddy('localhost'"),
  'psql "$SUPERUSER_URL" --set=ON_ERROR_STOP=1 --file=deploy/postgres/roles.sql': by(
    'tests/deploy/stores.ts',
    'docker-entrypoint-initdb.d',
  ),
  'echo COMPOSE_FILE=compose.yaml:deploy/webhooks.yaml >> .env': docker,
  'docker compose up --detach': docker,
  'docker compose up --build --detach': docker,
  'docker compose run --rm admin create-superuser --email root@example.com --username root': docker,
  'docker compose run --rm admin invite': docker,
  'docker compose run --rm admin statistics': docker,
  'docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt .': docker,
  'docker compose exec one node packages/cli/src/main.ts doctor http://127.0.0.1:8000': docker,
  'docker compose --profile monitoring up --detach': docker,
  'docker build --build-arg REVISION=$(git rev-parse HEAD) --tag lockstep:0.1.0 .': docker,
  'docker compose run --rm backup': backups,
  'docker compose run --rm --env KEEP=60 backup': backups,
  'docker compose stop one two && docker compose run --rm restore /backups/lockstep-2026-03-01T12-30-00Z.dump && docker compose start one two':
    backups,
  'psql -h /run/postgresql -p 6432 -U pgbouncer pgbouncer -c RECONNECT': by(
    'packages/testing/src/pgbouncer.ts',
    'psql -h /run/postgresql -p 6432 -U pgbouncer pgbouncer -c RECONNECT',
  ),
  'psql "$DATABASE_URL" --file=deploy/backup/check.sql': by('tests/deploy/backup.test.ts', 'deploy/backup/check.sql'),
  'docker compose build': docker,
  'docker compose run --rm migrate': docker,
  'docker compose up --detach --no-deps one': docker,
  'docker compose ps': docker,
  'docker buildx imagetools inspect node:26.10.0-bookworm': not('needs a registry'),
  'npm ci --omit=dev --ignore-scripts -w packages/server': by('tests/deploy/deploy.test.ts', '[SHIP-3]'),
  'DATABASE_URL_FILE=/etc/lockstep/migrator_database_url npm run migrate': by(
    'tests/deploy/deploy.test.ts',
    "compose.run('migrate'",
  ),
  'useradd --system --no-create-home lockstep': host,
  'install -d -m 700 /etc/lockstep': host,
  'cp deploy/systemd/lockstep@.service /etc/systemd/system/': host,
  'cp deploy/nginx/lockstep.conf /etc/nginx/conf.d/': host,
  'systemctl enable --now lockstep@8001 lockstep@8002 && nginx -s reload': host,
  'systemctl restart lockstep@8001': host,
  'systemctl edit lockstep@': host,
  'kubectl apply -k': not('needs a cluster; tests/deploy/files.test.ts renders and checks the manifests'),

  // Recovering: tests run the blocks of the page on real servers
  'pg_basebackup --dbname="$PRIMARY" --pgdata="$DATA" --write-recovery-conf --checkpoint=fast': by(
    'tests/recovery/cluster.ts',
    "blockOf('standby')",
  ),
  [`psql "$PRIMARY" --command="alter system set synchronous_standby_names = 'ANY 1 (server_1, server_2, server_3)'" --command='select pg_reload_conf()'`]:
    by('tests/recovery/cluster.ts', "blockOf('synchronous')"),
  [`psql "$STANDBY" --command='select pg_promote()'`]: by('tests/recovery/cluster.ts', "blockOf('promote')"),
  [`psql "$STANDBY" --command="alter system set primary_conninfo = '$PRIMARY'" --command='select pg_reload_conf()'`]:
    by('tests/recovery/cluster.ts', "blockOf('follow')"),
  'pg_basebackup --dbname="$PRIMARY" --pgdata="$BACKUP" --checkpoint=fast': by(
    'tests/prove/operate-restore.ts',
    "blockOf('backup')",
  ),
  'cp -R "$BACKUP" "$DATA"': restored,
  'chmod 700 "$DATA"': restored,
  'cat >> "$DATA/postgresql.auto.conf" <<END': restored,
  [`restore_command = 'cp "$ARCHIVE/%f" "%p"'`]: restored,
  [`recovery_target_time = '$UNTIL'`]: restored,
  [`recovery_target_action = 'promote'`]: restored,
  END: restored,
  'touch "$DATA/recovery.signal"': restored,
  'npm run acceptance -- <url> --quick': by('tests/prove/operate-restore.ts', 'acceptance'),

  // Upgrading
  'npm run migrate -- --stopped': by('packages/server/src/database/migrations/migrate.test.ts', 'isStopped: true'),
  'pg_upgrade --link': not('upgrades a server to a version that is not installed'),

  // Long-running suites: tests run the same code with smaller sizes
  'npm run prove -- <suite>': not('stands for the suites below'),
  'npm run prove -- all': not('runs all suites, which takes hours'),
  'npm run prove -- realtime': by('tests/fault-harness.test.ts', "from './fault-harness/run.ts'"),
  'npm run prove -- realtime-simulation': by('packages/server/src/realtime/hub.test.ts', 'simulate('),
  'npm run prove -- client-simulation': by('packages/client/src/live/core-simulation.test.ts', 'simulate('),
  'npm run prove -- race-pairs': by('tests/race-pairs.test.ts', "from './race-pairs/run.ts'"),
  'npm run prove -- full-board': by('tests/full-board.test.ts', "from './full-board/lifetimes.ts'"),
  'npm run prove -- large': by('tests/large.test.ts', "from './large/searches.ts'"),
  'npm run prove -- fuzz': by('tests/fuzz.test.ts', "from './fuzz/run.ts'"),
  'npm run prove -- overload': by('tests/overload.test.ts', "from './prove/overload-workload.ts'"),
  'npm run prove -- greedy': by('tests/greedy.test.ts', "from './greedy/scenarios.ts'"),
  'npm run prove -- greedy-before': not('runs the scenarios of greedy on an older version, which takes an hour'),
  'npm run prove -- webhooks': by('tests/webhooks.test.ts', "from './webhook-harness/run.ts'"),
  'npm run prove -- webhooks-latency': not('needs a quiet machine'),
  'npm run prove -- soak': by('tests/soak.test.ts', "from './soak/run.ts'"),
  'npm run prove -- operate-upgrade': by('tests/upgrade.test.ts', 'operate-upgrade'),
  'npm run prove -- operate-failover': by('tests/recovery.test.ts', 'operate-failover'),
  'npm run prove -- operate-pooler': by('tests/pooler.test.ts', 'sendMixedRequests'),
  'npm run prove -- operate-restore': by('tests/recovery.test.ts', 'operate-restore'),
  'npm run prove -- web-walks': by('tests/web/history.test.ts', 'openRandomWalk'),
  'npm run prove -- web-speed': by('tests/web/speed.test.ts', 'measureBurst'),
  'npm run prove -- install': not('installs from the network on a minimal Debian, and takes minutes'),
  'npm run screenshots': not('takes minutes, and replaces pictures of the documentation'),

  // Benchmarks
  'npm run bench': by('bench/bench.test.ts', '--smoke'),
  ...Object.fromEntries(
    ['writes', 'full-board', 'fan-out'].map((name) => [
      `npm run bench -- ${name}`,
      by('bench/bench.test.ts', '--smoke'),
    ]),
  ),
  'npm run bench -- versus <commit>': by('bench/bench.test.ts', "'bench/main.ts', 'versus'"),

  // Dependencies
  'npm sbom --sbom-format cyclonedx --package-lock-only -w packages/server -w packages/web > lockstep.cdx.json': by(
    'tests/security.test.ts',
    'npm sbom',
  ),
  'npm audit': by('scripts/check.ts', "'audit'"),
  'npm audit signatures': not('needs a registry, and no test may depend on one'),
  'npm sbom --omit=dev': not('the page advises against it'),
}
