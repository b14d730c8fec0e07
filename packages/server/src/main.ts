import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { configOrExit } from './config/read-config.ts'
import { waitForDatabase } from './database/connection-failure.ts'
import { requireDurability } from './database/durability-check.ts'
import { ensureDatabase, migrate } from './database/migrations/migrate.ts'
import { requireSchema } from './database/migrations/schema-compatibility.ts'
import { requireFitPooler } from './database/pooler-check.ts'
import { isWebClientBuilt } from './http/pages/web-client.ts'
import { readArguments } from './platform/command-line.ts'
import { BUILD } from './platform/version.ts'
import { describeStartFailure } from './start-failure.ts'
import { createLogger } from './telemetry/logger.ts'

readArguments({
  help: `npm start

Starts the service. All settings are environment variables; docs/settings.md describes them.

  --version   print the version
  --help      show this help`,
})
const config = configOrExit({}, (message) => createLogger({ level: 'fatal', format: formatOfErrors() }).fatal(message))
const log = createLogger(config.log)

try {
  await prepareDatabase()
  const app = await buildApp(config, log)
  closeWithGrace(
    { delay: (config.http.unreadySeconds + config.sockets.drainSeconds + 10) * 1_000, logger: log },
    async ({ err }) => {
      if (err) log.error({ err }, 'closing after an error')
      await app.close()
    },
  )
  await app.listen({ host: config.http.host, port: config.http.port, listenTextResolver: startLine })
} catch (error) {
  const sentence = describeStartFailure(error, config)
  if (sentence === undefined) log.fatal({ err: error }, 'the service did not start')
  else log.fatal(sentence)
  process.exit(1)
}

async function prepareDatabase() {
  const { url, migrateOnStart } = config.database
  const exists = await waitForDatabase(url, { log })
  if (!exists && !config.isProduction && (await ensureDatabase(url))) log.info('created the database')
  for (const warning of await requireFitPooler(url)) log.warn(warning)
  if (migrateOnStart) await migrate(url, { log })
  else await requireSchema(url, log)
  if (config.isProduction) await requireDurability(url, log)
}

function startLine(address: string): string {
  const client = isWebClientBuilt() ? `, web client at ${address}/app` : ''
  const docs = config.http.hasApiDocs ? `, API documentation at ${address}/docs` : ''
  const mode = config.isProduction ? 'production' : 'development'
  return `Lockstep ${BUILD} in ${mode}: API at ${address}${client}${docs}`
}

/** The format of the log, when the settings that choose it cannot be read. */
function formatOfErrors() {
  return process.env['ENVIRONMENT'] !== 'production' && process.stdout.isTTY ? 'pretty' : 'json'
}
