import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { configOrExit } from './config.ts'
import { createLog } from './core/log.ts'
import { ensureDatabase, migrate } from './core/migrate.ts'

const config = configOrExit()
const log = createLog(config.LOG_LEVEL)

if (!config.IS_PRODUCTION && (await ensureDatabase(config.DATABASE_URL))) log.info('created the database')
if (config.MIGRATE_ON_START) for (const name of await migrate(config.DATABASE_URL)) log.info({ name }, 'migrated')

const app = await buildApp(config, log)
closeWithGrace({ delay: (config.DRAIN_SECONDS + 10) * 1_000, logger: log }, async ({ err }) => {
  if (err) log.error({ err }, 'closing after an error')
  await app.close()
})
await app.listen({ host: config.HOST, port: config.PORT })
