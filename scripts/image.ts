import { spawn } from 'node:child_process'
import { cp, lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** An instruction of a Dockerfile, with what stands behind its keyword. */
export interface Instruction {
  keyword: string
  text: string
}
/** What a stage leaves behind: its directory, and how its programs are started. */
export interface Image {
  folder: string
  workdir: string
  env: Record<string, string>
  user: string
  command: string[]
  healthcheck: string[]
}

/** The instructions of a Dockerfile, in order. Lines that end in a backslash go on. */
export function readInstructions(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
  return lines.flatMap((line) => {
    const [, keyword = '', text = ''] = /^\s*([A-Za-z]+)\s+(.*?)\s*$/.exec(line) ?? []
    return keyword ? [{ keyword: keyword.toUpperCase(), text }] : []
  })
}

/** A pattern as Docker reads it: a star also stands for a name that begins with a dot. */
const expression = (pattern: string) =>
  new RegExp(
    `^${pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'))}$`,
  )

/** Whether a path stays out of the image. As in Docker, the last pattern that fits it, or a folder above it, decides. */
export function ignores(dockerignore: string): (path: string) => boolean {
  const patterns = dockerignore.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const fits = (path: string, pattern: string) => {
    const parts = path.split('/')
    return parts.some((_, i) => expression(pattern).test(parts.slice(0, i + 1).join('/')))
  }
  return (path) =>
    patterns.reduce(
      (isOut, line) => (line.startsWith('!') ? isOut && !fits(path, line.slice(1)) : isOut || fits(path, line)),
      false,
    )
}

interface Building {
  /** What a builder is sent. */
  root: string
  /** Where stages get their directories. */
  folder: string
  /** Stands in for every base image: a RUN finds it in its PATH, with what the machine has. */
  node: string
  /** In place of the one below `root`. */
  dockerfile?: string
  /** Stages that were built before, by name. They are not built again. */
  built?: Map<string, Promise<Image>>
}

/** Executes the steps of a Dockerfile in plain directories. Hands back all stages, and the last one. */
export async function buildImage({ root, folder, node, dockerfile, built }: Building) {
  const instructions = readInstructions(dockerfile ?? (await readFile(join(root, 'Dockerfile'), 'utf8')))
  const isIgnored = ignores(await readFile(join(root, '.dockerignore'), 'utf8'))
  const stages = new Map(built)
  const starts = instructions.flatMap(({ keyword }, i) => (keyword === 'FROM' ? [i] : []))
  let last = Promise.reject<Image>(new Error('There is no FROM'))
  last.catch(() => {})
  // Stages that do not need each other are built side by side, as a builder does.
  for (const [i, start] of starts.entries()) {
    const steps = instructions.slice(start + 1, starts[i + 1])
    const [, name] = / AS (\S+)/i.exec(instructions[start]?.text ?? '') ?? []
    const known = name === undefined ? undefined : stages.get(name)
    last = known ?? buildStage(steps, { root, isIgnored, stages, node, folder: join(folder, name ?? 'last') })
    stages.set(name ?? 'last', last)
  }
  // A step that fails leaves no other one running.
  await Promise.allSettled(stages.values())
  return { image: await last, stages }
}

interface Workplace {
  root: string
  isIgnored: (path: string) => boolean
  stages: Map<string, Promise<Image>>
  node: string
  folder: string
}

async function buildStage(steps: Instruction[], place: Workplace): Promise<Image> {
  const { folder, node } = place
  const image: Image = { folder, workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const { keyword, text } of steps) {
    if (keyword === 'WORKDIR') image.workdir = text
    else if (keyword === 'COPY') await copy(text, image, place)
    else if (keyword === 'RUN') await run(text, join(folder, image.workdir), node)
    else if (keyword === 'ENV')
      for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g)) image.env[name ?? ''] = value ?? ''
    else if (keyword === 'USER') image.user = text
    else if (keyword === 'CMD') image.command = JSON.parse(text) as string[]
    else if (keyword === 'HEALTHCHECK') image.healthcheck = JSON.parse(text.slice(text.indexOf('['))) as string[]
    else if (keyword !== 'EXPOSE') throw new Error(`${keyword} is not known here: teach it to scripts/image.ts`)
  }
  return image
}

async function copy(text: string, image: Image, { root, isIgnored, stages }: Workplace) {
  const words = text.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const to = words.pop() ?? ''
  const source = from === undefined ? { folder: root } : await stages.get(from)
  if (!source) throw new Error(`COPY from ${from}: there is no such stage before it`)
  for (const name of words) {
    const origin = join(source.folder, name)
    const there = await lstat(origin).catch(() => undefined)
    if (!there || (from === undefined && isIgnored(name) && !there.isDirectory()))
      throw new Error(`COPY ${name}: it is not there`)
    const target = join(image.folder, to.startsWith('/') ? '' : image.workdir, to)
    const goal = there.isDirectory() ? target : to.endsWith('/') ? join(target, name.split('/').at(-1) ?? '') : target
    await mkdir(dirname(goal), { recursive: true })
    const passes = (path: string) =>
      from !== undefined || path === origin || !isIgnored(path.slice(root.length).replace(/^\/+/, ''))
    await cp(origin, goal, { recursive: true, verbatimSymlinks: true, filter: passes })
  }
}

async function run(text: string, cwd: string, node: string) {
  await mkdir(cwd, { recursive: true })
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|INIT_CWD|PATH$)/i.test(name))
  // What this machine has fetched before is not fetched again.
  const env = { ...Object.fromEntries(own), PATH: `${dirname(node)}:${PLAIN_PATH}`, npm_config_prefer_offline: 'true' }
  return new Promise<void>((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`RUN ${text}: ${code}\n${output}`))))
  })
}
const PLAIN_PATH = '/usr/local/bin:/usr/bin:/bin'

/** The bytes of every file below a folder; a link is not followed. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
