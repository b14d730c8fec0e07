import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { operations } from '@lockstep/contract'
import { asyncApi } from '@lockstep/contract/asyncapi'
import { openApi } from '@lockstep/contract/openapi'
import { type Operation, tokenRequirementOf } from '@lockstep/contract/operation'
import { problems } from '@lockstep/contract/problems'
import pg from 'pg'
import { readConfig } from '../packages/server/src/config/read-config.ts'
import { SECRETS, Settings } from '../packages/server/src/config/settings.ts'
import { ensureDatabase, migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { definitions, type Labels } from '../packages/server/src/telemetry/metric-definitions.ts'
import { aim, criteria, limits, report } from '../packages/web/src/settings/accessibility-table.ts'
import { shortcuts } from '../packages/web/src/shortcuts/shortcut-table.ts'
import { clientModel } from './client-model.ts'
import { clientCalls, clientTable, clientTypes } from './client-types.ts'
import { FULL_RUN_PAGE, fullRunPage } from './full-run.ts'
import { PAGE, proofPage, readResults } from './proof-page.ts'

/**
 * All generated files. `--check` writes nothing and fails if a file is stale; a folder as argument limits the run to its files.
 */
const generated: Record<string, () => string | Promise<string>> = {
  'docs/api/openapi.json': () => `${JSON.stringify(openApi(), null, 2)}\n`,
  'docs/api/asyncapi.json': () => `${JSON.stringify(asyncApi(), null, 2)}\n`,
  'docs/api/scopes.md': scopesTable,
  'docs/settings.md': settingsTable,
  'docs/errors.md': errorsTable,
  'docs/metrics.md': metricsTable,
  'docs/shortcuts.md': shortcutTables,
  'docs/accessibility.md': accessibilityStatement,
  [PAGE]: () => proofPage(readResults()),
  [FULL_RUN_PAGE]: fullRunPage,
  'packages/client/src/types.gen.ts': clientTypes,
  'packages/client/src/calls.gen.ts': clientCalls,
  'packages/client/src/operations.gen.ts': clientTable,
  'packages/client/src/live/model.gen.ts': clientModel,
  'packages/server/src/database/tables.gen.ts': tableTypes,
}

const isCheck = process.argv.includes('--check')
const stale: string[] = []
const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? ''
for (const [file, make] of Object.entries(generated).filter(([name]) => name.startsWith(folder))) {
  const text = await make()
  if (text === read(file)) continue
  if (isCheck) stale.push(file)
  else writeFileSync(file, text)
}
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run npm run generate and commit the result.`)
  process.exit(1)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

interface Described {
  default?: string | number | boolean
  enum?: string[]
  description: string
}

function settingsTable(): string {
  const rows = Object.entries(Settings.properties).map(([name, schema]) => {
    const { default: value, enum: members, description } = schema as unknown as Described
    const shown = value === undefined ? '' : value === '' ? '(empty)' : `\`${String(value)}\``
    const fromFile = SECRETS.some((secret) => secret === name) ? `<br>\`${name}_FILE\`` : ''
    return `| \`${name}\`${fromFile} | ${shown} | ${members ? `${members.map((m) => `\`${m}\``).join(' or ')}. ` : ''}${description} |`
  })
  return `# Settings

All settings are environment variables, read once at the start. A secret can be read from a file instead: set the variable with
\`_FILE\` to its path; one trailing line break is ignored. See also [before production](running.md#before-production). Generated from
\`packages/server/src/config/settings.ts\`.

| Setting | Default | Description |
|---|---|---|
${rows.join('\n')}
`
}

function scopesTable(): string {
  const rows = Object.entries<Operation>(operations)
    .filter(([, { access }]) => access !== 'public')
    .map(([name, operation]) => {
      const required = tokenRequirementOf(operation)
      const [scope, board] =
        required === 'never' ? ['no token', 'no'] : [`\`${required.scope}\``, required.board_tokens ? 'yes' : 'no']
      return `| \`${operation.method} ${operation.path}\` | \`${name}\` | ${scope} | ${board} |`
    })
  return `# Scopes of access tokens

What each operation requires of an [access token](../tokens.md). \`write\` includes \`read\`, and \`admin\` includes both. A token never
allows more than its user may do. A board token (\`lsb_…\`) is limited to one board. Generated from \`packages/contract/src\`.

| Request | Operation | Scope | Board tokens |
|---|---|---|---|
${rows.join('\n')}
`
}

function errorsTable(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, detail, help }]) => `| \`${code}\` | ${status} | ${detail} | ${help} |`,
  )
  return `# Errors

Every error is a JSON object: \`detail\` is a message for people, \`code\` a stable name for programs. A 401 has the header
\`WWW-Authenticate: Bearer\`, a 429 or 503 \`Retry-After\`. Generated from \`packages/contract/src/problems.ts\`.

| Code | Status | Default \`detail\` | What to do |
|---|---|---|---|
${rows.join('\n')}
`
}

function metricsTable(): string {
  const describeLabel = (label: string, values: Labels[string]) =>
    `\`${label}\`: ${typeof values === 'string' ? values : values.every((value) => value in problems) ? 'one of the [error codes](errors.md)' : values.map((v) => `\`${v}\``).join(', ')}`
  const rows = Object.entries(definitions).map(([name, { kind, help, labels }]) => {
    const described = Object.entries(labels as Labels).map(([label, values]) => describeLabel(label, values))
    return `| \`${name}\` | ${kind} | ${help} | ${described.join('; ')} |`
  })
  return `# Metrics

The metrics of \`/metrics\`; [observing](observing.md) explains how to use them. The default metrics of the process
(\`process_…\`) and of Node.js (\`nodejs_…\`) are exported too. Generated from \`packages/server/src/telemetry/metric-definitions.ts\`.

| Metric | Kind | Description | Labels |
|---|---|---|---|
${rows.join('\n')}
`
}

function shortcutTables(): string {
  const parts = shortcuts.map(({ title, rows }) => {
    const lines = rows.map(({ keys, does }) => `| ${keys.map((each) => `\`${each}\``).join(' ')} | ${does} |`)
    return `## ${title}\n\n| Keys | Action |\n|---|---|\n${lines.join('\n')}\n`
  })
  return `# Keyboard shortcuts

The shortcuts of the web client; \`?\` shows them in the client. On a Mac, \`Ctrl\` is ⌘. Single-key shortcuts work outside
fields, and can be turned off in the settings. Generated from \`packages/web/src/shortcuts/shortcut-table.ts\`.

${parts.join('\n')}`
}

function accessibilityStatement(): string {
  const rows = criteria.map(
    ({ id, name, level, met, proof, rule }) => `| ${id} ${name} (${level}) | ${met} | ${proof} (${rule}) |`,
  )
  return `# Accessibility

${aim} The client shows the same page at \`/app/accessibility\`. Generated from
\`packages/web/src/settings/accessibility-table.ts\`.

| Criterion | How it is met | Test |
|---|---|---|
${rows.join('\n')}

## Known limits

${limits.map((limit) => `- ${limit}`).join('\n')}

## Report a problem

${report.join('\n\n')}
`
}

/** Generates table types from a temporary database with the current schema. */
async function tableTypes(): Promise<string> {
  const server = new URL(readConfig(process.env).database.url)
  const url = Object.assign(new URL(server), { pathname: `/lockstep_generate_${process.pid}` })
  await ensureDatabase(url.href)
  try {
    await migrate(url.href)
    const options = [
      '--dialect',
      'postgres',
      '--url',
      url.href,
      '--exclude-pattern',
      'schema_migrations',
      '--print',
      '--log-level',
      'error',
    ]
    const mapping = JSON.stringify({ timestamptz: 'string', date: 'string', int8: 'number' })
    const text = execFileSync('kysely-codegen', [...options, '--type-mapping', mapping], { encoding: 'utf8' })
    return `${text.slice(text.indexOf('/**')).trim()}\n`
  } finally {
    const client = new pg.Client({ connectionString: Object.assign(new URL(server), { pathname: '/postgres' }).href })
    await client.connect()
    await client.query(`drop database ${client.escapeIdentifier(url.pathname.slice(1))}`)
    await client.end()
  }
}
