import { newAccount } from '@lockstep/testing/accounts'
import { instanceSettings, startInstances } from '@lockstep/testing/environment'
import type { ServiceProcess } from '@lockstep/testing/processes'
import { openSql } from '@lockstep/testing/template-database'
import type { RaceEnvironment } from './run.ts'

/** Two instances of the service on one database, and the users who race. */
export async function startRaceEnvironment(
  databaseUrl: string,
  redisUrl: string,
): Promise<RaceEnvironment & { services: ServiceProcess[] }> {
  const services = await startInstances(2, {
    ...instanceSettings(databaseUrl, redisUrl),
    // On a busy machine writes may be slow, but must not fail because of that.
    BOARD_WAIT_MS: '12000',
  })
  const urls = services.map(({ baseUrl }) => baseUrl) as [string, string]
  const [one, two, member, nonMember] = await Promise.all([1, 2, 3, 4].map(() => newAccount(urls[0])))
  const users = { racers: [one, two], member, nonMember } as RaceEnvironment['users']
  return { urls, sql: openSql(databaseUrl), users, services }
}
