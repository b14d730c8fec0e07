import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MARK, PASSWORD } from '../service.ts'

const MAIN = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))

export interface Ended {
  code: number | null
  out: string
  err: string
}
export interface Running {
  out: () => string
  err: () => string
  /** What it printed so far, each line read as JSON. */
  events: () => { type: string; seq?: number; data?: { title?: string } }[]
  type: (text: string) => void
  end: (signal?: NodeJS.Signals) => Promise<Ended>
  ended: Promise<Ended>
}

/** Somebody at a terminal, with a folder of his own for what the command keeps. */
export class Person {
  readonly home = mkdtempSync(join(tmpdir(), 'lockstep-cli-'))
  readonly env: Record<string, string> = {}
  private readonly children = new Set<ChildProcess>()

  get login_file(): string {
    return join(this.home, 'lockstep', 'login.json')
  }

  /** Starts the real command, and lets it run. */
  start(args: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}): Running {
    const running = this.launch(process.execPath, [MAIN, ...args], env)
    if (input !== undefined) running.type(input)
    if (input !== undefined) running.close()
    return running
  }

  /** Starts it on a terminal of its own. Both its outputs are in `out`. */
  startOnTerminal(args: string[], env: Record<string, string> = {}): Running {
    const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
    return this.launch('script', ['-qec', words, '/dev/null'], { TERM: 'xterm', ...env })
  }

  /** Runs the command to its end. Nothing that it says may hold a token or a password. */
  async run(args: string[], options: { input?: string; env?: Record<string, string> } = {}): Promise<Ended> {
    return this.start(args, { input: '', ...options }).ended
  }

  /** Runs it with `--json`, and reads what it printed. */
  async json<T = Record<string, unknown>>(args: string[], options: { input?: string } = {}): Promise<T> {
    const { code, out, err } = await this.run([...args, '--json'], options)
    if (code !== 0) throw new Error(`lockstep ${args.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out) as T
  }

  async login(url: string, email: string): Promise<void> {
    const { code, err } = await this.run(['login', '--url', url, '--email', email], { input: `${PASSWORD}\n` })
    if (code !== 0) throw new Error(err)
  }

  /** Ends what still runs, and removes what was kept. */
  leave(): void {
    for (const child of this.children) child.kill('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }

  private launch(command: string, args: string[], env: Record<string, string>): Running & { close: () => void } {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const own = { PATH, NODE_COMPILE_CACHE, HOME: this.home, XDG_CONFIG_HOME: this.home }
    const child = spawn(command, args, { env: { ...own, ...this.env, ...env }, stdio: 'pipe' })
    this.children.add(child)
    const said = { out: '', err: '' }
    child.stdout.on('data', (text: Buffer) => (said.out += text.toString()))
    child.stderr.on('data', (text: Buffer) => (said.err += text.toString()))
    child.stdin.on('error', () => {})
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        this.children.delete(child)
        const secret = /eyJ[\w-]+\.[\w-]+/.exec(said.out + said.err)?.[0] ?? (said.out + said.err).includes(MARK)
        if (secret) reject(new Error(`lockstep ${args.slice(1).join(' ')} told a secret: ${said.out}${said.err}`))
        else resolve({ code, ...said })
      })
    })
    ended.catch(() => {})
    return {
      out: () => said.out,
      err: () => said.err,
      events: () =>
        said.out
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line)),
      type: (text) => void child.stdin.write(text),
      close: () => void child.stdin.end(),
      end: (signal = 'SIGINT') => {
        child.kill(signal)
        return ended
      },
      ended,
    }
  }
}

/** Waits until something holds, by asking again and again. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patience_ms = 15_000) {
  const deadline = Date.now() + patience_ms
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`)
    await pause(20)
  }
}
