import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { configOrExit } from './config/config.ts'
import { listenAtManyDoors } from './http/edge/listen.ts'
import { demandDurable, NotDurable } from './database/durability-check.ts'
import { createLog } from './telemetry/logger.ts'
import { ensureDatabase, migrate } from './database/migrations/migrate.ts'
import { demandSchema, SchemaMismatch } from './database/migrations/schema-compatibility.ts'

const config = configOrExit()
const log = createLog({ level: config.LOG_LEVEL, format: config.LOG_FORMAT })

if (!config.IS_PRODUCTION && (await ensureDatabase(config.DATABASE_URL))) log.info('created the database')
try {
  if (config.MIGRATE_ON_START) await migrate(config.DATABASE_URL, { log })
  else await demandSchema(config.DATABASE_URL, log)
  if (config.IS_PRODUCTION) await demandDurable(config.DATABASE_URL, log)
} catch (error) {
  if (!(error instanceof SchemaMismatch || error instanceof NotDurable)) throw error
  console.error(error.message)
  process.exit(1)
}

const app = await buildApp(config, log)
closeWithGrace(
  { delay: (config.UNREADY_SECONDS + config.DRAIN_SECONDS + 10) * 1_000, logger: log },
  async ({ err }) => {
    if (err) log.error({ err }, 'closing after an error')
    await app.close()
  },
)
await listenAtManyDoors(app, { host: config.HOST, port: config.PORT })
