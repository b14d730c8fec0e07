import { Client } from '@lockstep/testing/client'
import { openPool } from '@lockstep/testing/load/environment'
import { type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { newPerson } from '../fuzz/person.ts'
import type { Track } from './run.ts'

/** Two instances of the service as processes of their own on one database, and the people who race there. */
export async function setTrack(
  DATABASE_URL: string,
  REDIS_URL: string,
): Promise<Track & { services: ServiceProcess[] }> {
  const settings = {
    DATABASE_URL,
    REDIS_URL,
    JWT_SECRET: 'hush-hush-signing-secret-of-the-races-0123456789',
    LOG_LEVEL: 'warn',
    // On a busy machine writes may be slow; they must not fail for that.
    BOARD_WAIT_MS: '12000',
  }
  const [one, two] = await Promise.all([startServiceProcess(settings), startServiceProcess(settings)])
  const [a, b, member, stranger] = await Promise.all([1, 2, 3, 4].map(() => newPerson(new Client(one.base_url))))
  const cast = { racers: [a, b], member, stranger } as Track['cast']
  return { urls: [one.base_url, two.base_url], sql: openPool(DATABASE_URL), cast, services: [one, two] }
}
