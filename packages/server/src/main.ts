import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { BadSetting, type Config, readConfig } from './config.ts'
import { createLog } from './core/log.ts'
import { ensureDatabase, migrate } from './core/migrate.ts'

const config = configOrExit()
const log = createLog(config.LOG_LEVEL)

if (!config.IS_PRODUCTION && (await ensureDatabase(config.DATABASE_URL))) log.info('created the database')
if (config.MIGRATE_ON_START) for (const name of await migrate(config.DATABASE_URL)) log.info({ name }, 'migrated')

const app = await buildApp(config, log)
closeWithGrace({ delay: 10_000, logger: log }, async ({ err }) => {
  if (err) log.error({ err }, 'closing after an error')
  await app.close()
})
await app.listen({ host: config.HOST, port: config.PORT })

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
