import { spawn } from 'node:child_process'
import { cp, lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** An instruction of a Dockerfile: its keyword and the rest of the line. */
export interface Instruction {
  keyword: string
  text: string
}
/** The result of a build stage: its root directory and its configuration. */
export interface Image {
  folder: string
  workdir: string
  env: Record<string, string>
  user: string
  command: string[]
  healthcheck: string[]
}

/** Parses a Dockerfile. Lines that end with a backslash continue. */
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

/** A Docker ignore pattern as a regular expression. A star also matches a leading dot. */
const expression = (pattern: string) =>
  new RegExp(
    `^${pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'))}$`,
  )

/** Tells whether .dockerignore excludes a path. As in Docker, the last pattern that matches it or a parent folder decides. */
export function ignores(dockerignore: string): (path: string) => boolean {
  const patterns = dockerignore.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const matches = (path: string, pattern: string) => {
    const parts = path.split('/')
    return parts.some((_, i) => expression(pattern).test(parts.slice(0, i + 1).join('/')))
  }
  return (path) =>
    patterns.reduce(
      (isOut, line) => (line.startsWith('!') ? isOut && !matches(path, line.slice(1)) : isOut || matches(path, line)),
      false,
    )
}

interface BuildOptions {
  /** The build context. */
  root: string
  /** Where the directories of the stages are created. */
  folder: string
  /** The Node.js binary that replaces every base image: a RUN finds it in its PATH, besides the programs of this machine. */
  node: string
  /** Replaces the Dockerfile in `root`. */
  dockerfile?: string
  /** Stages to reuse, by name. */
  built?: Map<string, Promise<Image>>
}

/** Executes the steps of a Dockerfile in plain directories, without Docker. Returns all stages, and the last one as image. */
export async function buildImage({ root, folder, node, dockerfile, built }: BuildOptions) {
  const instructions = readInstructions(dockerfile ?? (await readFile(join(root, 'Dockerfile'), 'utf8')))
  const isIgnored = ignores(await readFile(join(root, '.dockerignore'), 'utf8'))
  const stages = new Map(built)
  const starts = instructions.flatMap(({ keyword }, i) => (keyword === 'FROM' ? [i] : []))
  let last = Promise.reject<Image>(new Error('The Dockerfile has no FROM'))
  last.catch(() => {})
  // Independent stages are built in parallel, as Docker does.
  for (const [i, start] of starts.entries()) {
    const steps = instructions.slice(start + 1, starts[i + 1])
    const [, name] = / AS (\S+)/i.exec(instructions[start]?.text ?? '') ?? []
    const known = name === undefined ? undefined : stages.get(name)
    last = known ?? buildStage(steps, { root, isIgnored, stages, node, folder: join(folder, name ?? 'last') })
    stages.set(name ?? 'last', last)
  }
  // If a step fails, wait for the other stages, so that none keeps running.
  await Promise.allSettled(stages.values())
  return { image: await last, stages }
}

interface StageContext {
  root: string
  isIgnored: (path: string) => boolean
  stages: Map<string, Promise<Image>>
  node: string
  folder: string
}

async function buildStage(steps: Instruction[], context: StageContext): Promise<Image> {
  const { folder, node } = context
  const image: Image = { folder, workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const { keyword, text } of steps) {
    if (keyword === 'WORKDIR') image.workdir = text
    else if (keyword === 'COPY') await copy(text, image, context)
    else if (keyword === 'RUN') await run(text, join(folder, image.workdir), node)
    else if (keyword === 'ENV')
      for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g)) image.env[name ?? ''] = value ?? ''
    else if (keyword === 'USER') image.user = text
    else if (keyword === 'CMD') image.command = JSON.parse(text) as string[]
    else if (keyword === 'HEALTHCHECK') image.healthcheck = JSON.parse(text.slice(text.indexOf('['))) as string[]
    else if (keyword !== 'EXPOSE') throw new Error(`Unsupported instruction ${keyword}: add it to scripts/image.ts`)
  }
  return image
}

async function copy(text: string, image: Image, { root, isIgnored, stages }: StageContext) {
  const words = text.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const to = words.pop() ?? ''
  const source = from === undefined ? { folder: root } : await stages.get(from)
  if (!source) throw new Error(`COPY from ${from}: no earlier stage has this name`)
  for (const name of words) {
    const origin = join(source.folder, name)
    const found = await lstat(origin).catch(() => undefined)
    if (!found || (from === undefined && isIgnored(name) && !found.isDirectory()))
      throw new Error(`COPY ${name}: file not found`)
    const target = join(image.folder, to.startsWith('/') ? '' : image.workdir, to)
    const goal = found.isDirectory() ? target : to.endsWith('/') ? join(target, name.split('/').at(-1) ?? '') : target
    await mkdir(dirname(goal), { recursive: true })
    const isCopied = (path: string) =>
      from !== undefined || path === origin || !isIgnored(path.slice(root.length).replace(/^\/+/, ''))
    await cp(origin, goal, { recursive: true, verbatimSymlinks: true, filter: isCopied })
  }
}

async function run(text: string, cwd: string, node: string) {
  await mkdir(cwd, { recursive: true })
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|INIT_CWD|PATH$)/i.test(name))
  // Use the npm cache of this machine.
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

/** The total size of all files in a folder in bytes, without following symlinks. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
