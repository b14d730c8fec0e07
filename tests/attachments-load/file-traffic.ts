import { setTimeout as pause } from 'node:timers/promises'
import type { ProbedService } from '@lockstep/testing/load/environment'
import { inParallel } from '@lockstep/testing/load/http-client'
import { seeded } from '@lockstep/testing/random'
import { type FilesEnvironment, isUnchanged, MAX_FILE_BYTES, seededBytes, upload } from './environment.ts'

const SAMPLE_MS = 200
/** A pause of a virtual machine counts as CPU time of the thread that ran. Work that blocks does so for each of the files. */
const OUTLIERS = 2

/** Samples the resident memory and the longest event-loop iteration until it is stopped. */
function sample(service: ProbedService) {
  const rss: number[] = []
  const held: number[] = []
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      const seen = await service.look()
      rss.push(seen.rss)
      held.push(seen.heldMax)
      await pause(SAMPLE_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await sampling
      return { mostRss: Math.max(...rss), held: held.sort((a, b) => b - a)[OUTLIERS] ?? 0 }
    },
  }
}

export interface Traffic {
  /** Files that were downloaded with a difference. */
  broken: number
  idleRss: number
  mostRss: number
  /** CPU time of the longest event-loop iteration in a sample, without the outliers. */
  held: number
}

/** Files of all sizes, from empty to the largest, each uploaded and downloaded again, `at_once` at a time. */
export async function sendMixedFiles(
  environment: FilesEnvironment,
  { files, atOnce, seed }: { files: number; atOnce: number; seed: number },
): Promise<Traffic> {
  const random = seeded(seed)
  const source = seededBytes(seed)
  const contents = Array.from({ length: files }, () => {
    // Log-uniform: as many files between 1 and 10 KB as between 1 and 10 MB.
    const size = Math.floor((MAX_FILE_BYTES + 1) ** random.next()) - 1
    const start = random.below(source.length - size)
    return source.subarray(start, start + size)
  })
  let broken = 0
  const { rss: idleRss } = await environment.service.weigh()
  const sampler = sample(environment.service)
  await inParallel(contents, atOnce, async (content) => {
    const path = await upload(environment, content)
    if (!(await isUnchanged(environment, path, content))) broken++
  })
  return { broken, idleRss, ...(await sampler.stop()) }
}

/** Large files, all uploaded at the same time. */
export async function sendAtOnce(
  environment: FilesEnvironment,
  { files, bytes, seed }: { files: number; bytes: number; seed: number },
): Promise<Traffic> {
  const source = seededBytes(seed)
  const contents = Array.from({ length: files }, (_, i) => source.subarray(i, i + bytes))
  const { rss: idleRss } = await environment.service.weigh()
  const sampler = sample(environment.service)
  const paths = await Promise.all(contents.map((content) => upload(environment, content)))
  const seen = await sampler.stop()
  let broken = 0
  await inParallel([...paths.entries()], 8, async ([i, path]) => {
    if (!(await isUnchanged(environment, path, contents[i] as Buffer))) broken++
  })
  return { broken, idleRss, ...seen }
}
