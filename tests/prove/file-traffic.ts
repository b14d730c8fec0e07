import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../rig/history.ts'
import { inParallel, quantiles, type Times } from './asking.ts'
import { type FilesStage, isSameAgain, MAX_FILE_BYTES, seededBytes, upload } from './files-stage.ts'
import { startNeighbour } from './neighbour.ts'
import { keptBy, type ProbedService } from './realtime-stage.ts'

const SAMPLE_MS = 200

export interface Weight {
  at_ms: number
  rss: number
}

/** Looks at the process again and again until it is told to stop. */
function sample(service: ProbedService) {
  const weights: Weight[] = []
  const held: number[] = []
  const begun = performance.now()
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      const { rss, held_max } = await service.look()
      weights.push({ at_ms: performance.now() - begun, rss })
      held.push(held_max)
      await pause(SAMPLE_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await sampling
      return { weights, held_max: Math.max(...held) }
    },
  }
}

export interface MixedTraffic {
  files: number
  bytes: number
  seconds: number
  broken: number
  idle_rss: number
  weights: Weight[]
  /** What the process held on to after the second half of the files, more than after the first. */
  kept_more: number
  most_rss: number
  /** The usual resident memory in the first half of the time, and in the second. */
  first_half: number
  second_half: number
}

/** Files of all sizes, from nothing to the largest, each uploaded and downloaded again, some at a time. */
export async function sendMixedFiles(
  stage: FilesStage,
  { files, at_once, seed }: { files: number; at_once: number; seed: number },
): Promise<MixedTraffic> {
  const random = seeded(seed)
  const source = seededBytes(seed)
  const contents = Array.from({ length: files }, () => {
    // Log-uniform: as many files between 1 and 10 KB as between 1 and 10 MB.
    const size = Math.floor((MAX_FILE_BYTES + 1) ** random.next()) - 1
    const start = random.below(source.length - size)
    return source.subarray(start, start + size)
  })
  let broken = 0
  const { rss: idle_rss } = await stage.service.weigh()
  const sampler = sample(stage.service)
  const begun = performance.now()
  const send = (some: Buffer[]) =>
    inParallel(some, at_once, async (content) => {
      const path = await upload(stage, content)
      if (!(await isSameAgain(stage, path, content))) broken++
    })
  await send(contents.slice(0, files / 2))
  const kept_midway = await keptBy(stage.service)
  await send(contents.slice(files / 2))
  const kept_more = (await keptBy(stage.service)) - kept_midway
  const seconds = (performance.now() - begun) / 1_000
  const { weights } = await sampler.stop()
  const middle = (weights.at(-1)?.at_ms ?? 0) / 2
  const usual = (some: Weight[]) => quantiles(some.map(({ rss }) => rss)).p50
  return {
    files,
    bytes: contents.reduce((sum, content) => sum + content.length, 0),
    seconds,
    broken,
    idle_rss,
    weights,
    kept_more,
    most_rss: Math.max(...weights.map(({ rss }) => rss)),
    first_half: usual(weights.filter(({ at_ms }) => at_ms <= middle)),
    second_half: usual(weights.filter(({ at_ms }) => at_ms > middle)),
  }
}

export interface Rush {
  seconds: number
  broken: number
  idle_rss: number
  weights: Weight[]
  most_rss: number
  /** Processor time of the longest turn of the event loop meanwhile. */
  held_max: number
  quiet: Times
  meanwhile: Times
}

/** The largest files, all at once, while somebody else asks for a card again and again. */
export async function sendAtOnce(
  stage: FilesStage,
  { files, bytes, seed, quiet_ms }: { files: number; bytes: number; seed: number; quiet_ms: number },
): Promise<Rush> {
  const source = seededBytes(seed)
  const contents = Array.from({ length: files }, (_, i) => source.subarray(i, i + bytes))
  const neighbour = await startNeighbour(stage)
  try {
    await pause(quiet_ms)
    const quiet = quantiles(await neighbour.takeTimes())
    const { rss: idle_rss } = await stage.service.weigh()
    const sampler = sample(stage.service)
    const begun = performance.now()
    const paths = await Promise.all(contents.map((content) => upload(stage, content)))
    const seconds = (performance.now() - begun) / 1_000
    const meanwhile = quantiles(await neighbour.takeTimes())
    const { weights, held_max } = await sampler.stop()
    let broken = 0
    await inParallel([...paths.entries()], 8, async ([i, path]) => {
      if (!(await isSameAgain(stage, path, contents[i] as Buffer))) broken++
    })
    const most_rss = Math.max(...weights.map(({ rss }) => rss))
    return { seconds, broken, idle_rss, weights, most_rss, held_max, quiet, meanwhile }
  } finally {
    neighbour.end()
  }
}

/** The memory of the process over time. */
export function drawWeights(weights: readonly Weight[], title: string): string {
  const [width, height, edge] = [640, 320, 48]
  const most = { x: Math.max(...weights.map((w) => w.at_ms)), y: Math.max(...weights.map((w) => w.rss)) }
  const x = (at_ms: number) => edge + ((width - 2 * edge) * at_ms) / most.x
  const y = (rss: number) => height - edge - ((height - 2 * edge) * rss) / most.y
  const points = weights.map((w) => `${x(w.at_ms).toFixed(1)},${y(w.rss).toFixed(1)}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${width / 2}" y="20" text-anchor="middle">${title}</text>
<path d="M${edge} ${edge}V${height - edge}H${width - edge}" fill="none" stroke="#888"/>
<polyline points="${points.join(' ')}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>
<text x="${edge}" y="${height - edge + 18}" text-anchor="middle">0</text>
<text x="${width - edge}" y="${height - edge + 18}" text-anchor="end">${(most.x / 1_000).toFixed(0)} s</text>
<text x="${edge}" y="${edge - 8}" text-anchor="middle">${Math.round(most.y / 2 ** 20)} MiB</text>
</svg>
`
}
