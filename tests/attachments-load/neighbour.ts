import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FilesStage } from './files-stage.ts'

const FILE = fileURLToPath(new URL('neighbour-process.ts', import.meta.url))

/** Somebody in a process of his own who does the same small thing all the time, and how long each time took him. */
export async function startNeighbour({ service, neighbour }: FilesStage) {
  const child = fork(FILE, [service.base_url, neighbour.path, neighbour.token], { execArgv: [] })
  await once(child, 'message')
  return {
    /** Milliseconds of each request since the last time this was asked. */
    async takeTimes(): Promise<number[]> {
      child.send('take')
      const [times] = (await once(child, 'message')) as [number[]]
      return times
    },
    end: () => child.connected && child.disconnect(),
  }
}
