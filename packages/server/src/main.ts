import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { configOrExit } from './config/read-config.ts'
import { NotDurable, requireDurability } from './database/durability-check.ts'
import { ensureDatabase, migrate } from './database/migrations/migrate.ts'
import { requireSchema, SchemaMismatch } from './database/migrations/schema-compatibility.ts'
import { listenWithReusePort } from './http/edge/listen.ts'
import { createLogger } from './telemetry/logger.ts'

const config = configOrExit()
const log = createLogger(config.log)

if (!config.isProduction && (await ensureDatabase(config.database.url))) log.info('created the database')
try {
  if (config.database.migrateOnStart) await migrate(config.database.url, { log })
  else await requireSchema(config.database.url, log)
  if (config.isProduction) await requireDurability(config.database.url, log)
} catch (error) {
  if (!(error instanceof SchemaMismatch || error instanceof NotDurable)) throw error
  console.error(error.message)
  process.exit(1)
}

const app = await buildApp(config, log)
closeWithGrace(
  { delay: (config.http.unreadySeconds + config.sockets.drainSeconds + 10) * 1_000, logger: log },
  async ({ err }) => {
    if (err) log.error({ err }, 'closing after an error')
    await app.close()
  },
)
await listenWithReusePort(app, config.http)
