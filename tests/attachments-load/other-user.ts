import { Worker } from '@lockstep/testing/load/worker'
import type { FilesEnvironment } from './environment.ts'
import type { OtherUserCommand } from './other-user-process.ts'

/** A user in a separate process who sends the same small request again and again. */
export async function startOtherUser({ service, otherUser: { path, token } }: FilesEnvironment) {
  const worker = new Worker<OtherUserCommand>(new URL('other-user-process.ts', import.meta.url))
  await worker.run({ do: 'start', baseUrl: service.baseUrl, path, token })
  return {
    /** Milliseconds of each request since the last call. */
    takeTimes: () => worker.run({ do: 'take times' }) as Promise<number[]>,
    end: () => worker.end(),
  }
}
