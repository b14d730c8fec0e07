import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MARK, PASSWORD } from '../service.ts'

const MAIN = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))

export interface Exited {
  code: number | null
  out: string
  err: string
}
export interface Running {
  out: () => string
  err: () => string
  /** The output so far, each line parsed as JSON. */
  events: () => { type: string; seq?: number; data?: { title?: string } }[]
  type: (text: string) => void
  end: (signal?: NodeJS.Signals) => Promise<Exited>
  ended: Promise<Exited>
}

/** A user of the CLI with a temporary home folder. Runs the command from source, or from `main`. */
export class CliUser {
  readonly home = mkdtempSync(join(tmpdir(), 'lockstep-cli-'))
  main = MAIN
  readonly env: Record<string, string> = {}
  private readonly children = new Set<ChildProcess>()

  get loginFile(): string {
    return join(this.home, 'lockstep', 'login.json')
  }

  /** Starts the real command. */
  start(args: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}): Running {
    const running = this.launch(process.execPath, [this.main, ...args], env)
    if (input !== undefined) running.type(input)
    if (input !== undefined) running.close()
    return running
  }

  /** Starts the command in a pseudoterminal. Both outputs are in `out`. */
  startOnTerminal(args: string[], env: Record<string, string> = {}): Running {
    const words = [process.execPath, this.main, ...args].map((word) => `'${word}'`).join(' ')
    return this.launch('script', ['-qec', words, '/dev/null'], { TERM: 'xterm', ...env })
  }

  /** Runs the command to its end. Fails if the output contains a token or a password. */
  async run(args: string[], options: { input?: string; env?: Record<string, string> } = {}): Promise<Exited> {
    return this.start(args, { input: '', ...options }).ended
  }

  /** Runs the command with `--json` and parses the output. */
  async json<T = Record<string, unknown>>(args: string[], options: { input?: string } = {}): Promise<T> {
    const { code, out, err } = await this.run([...args, '--json'], options)
    if (code !== 0) throw new Error(`lockstep ${args.join(' ')} exited with ${code}: ${err}`)
    return JSON.parse(out) as T
  }

  async login(url: string, email: string): Promise<void> {
    const { code, err } = await this.run(['login', '--url', url, '--email', email], { input: `${PASSWORD}\n` })
    if (code !== 0) throw new Error(err)
  }

  /** Kills running commands and removes the home folder. */
  dispose(): void {
    for (const child of this.children) child.kill('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }

  private launch(command: string, args: string[], env: Record<string, string>): Running & { close: () => void } {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const baseEnv = { PATH, NODE_COMPILE_CACHE, HOME: this.home, XDG_CONFIG_HOME: this.home }
    const child = spawn(command, args, { env: { ...baseEnv, ...this.env, ...env }, stdio: 'pipe' })
    this.children.add(child)
    const output = { out: '', err: '' }
    child.stdout.on('data', (text: Buffer) => (output.out += text.toString()))
    child.stderr.on('data', (text: Buffer) => (output.err += text.toString()))
    child.stdin.on('error', () => {})
    const ended = new Promise<Exited>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        this.children.delete(child)
        const secret =
          /eyJ[\w-]+\.[\w-]+/.exec(output.out + output.err)?.[0] ?? (output.out + output.err).includes(MARK)
        if (secret)
          reject(new Error(`lockstep ${args.slice(1).join(' ')} printed a secret: ${output.out}${output.err}`))
        else resolve({ code, ...output })
      })
    })
    ended.catch(() => {})
    return {
      out: () => output.out,
      err: () => output.err,
      events: () =>
        output.out
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

/** Polls until the condition holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 15_000) {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for: ${what}`)
    await pause(20)
  }
}
