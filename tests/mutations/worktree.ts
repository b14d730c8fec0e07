import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { newFolder } from '@lockstep/testing/processes'
import type { Mutation } from './list.ts'

const AUTHOR = ['-c', 'user.name=Mutation', '-c', 'user.email=mutation@example.org', '-c', 'commit.gpgsign=false']

/** The test that failed. `file` is undefined if an error outside the tests made the run fail. */
export interface Failure {
  file?: string
  test: string
}

/** A checkout of the current commit in a temporary folder, in which one mutation at a time is committed. */
export class Worktree {
  private readonly folder: string
  private readonly base: string

  private constructor(folder: string) {
    this.folder = folder
    this.base = this.git('rev-parse', 'HEAD')
  }

  static async open(): Promise<Worktree> {
    const folder = await newFolder()
    execFileSync('git', ['worktree', 'prune'])
    execFileSync('git', ['worktree', 'add', '--quiet', '--detach', folder, 'HEAD'])
    linkPackages(folder)
    return new Worktree(folder)
  }

  /** Commits the mutation, so that it counts as the only change. Returns the seed that this commit gives to samples. */
  apply({ name, file, find, replace }: Mutation): string {
    this.reset()
    const path = join(this.folder, file)
    const parts = readFileSync(path, 'utf8').split(find)
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`)
    writeFileSync(path, parts.join(replace))
    this.git(...AUTHOR, 'commit', '--quiet', '--all', '--no-verify', '--message', name)
    return String(Number.parseInt(this.git('rev-parse', '--short=7', 'HEAD'), 16))
  }

  /** Takes back the mutation. */
  reset() {
    this.git('checkout', '--quiet', '--detach', this.base)
  }

  /** Runs tests, as `npm test` does, until the first one fails. */
  firstFailure(args: string[], env: NodeJS.ProcessEnv): Failure | undefined {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.ts', ...args, '--bail'], {
      cwd: this.folder,
      env: { ...process.env, SINCE: 'HEAD~1', TEST_SIZE: undefined, ...env },
      encoding: 'utf8',
      maxBuffer: Number.POSITIVE_INFINITY,
    })
    if (status === 0) return undefined
    const path = join(this.folder, '.test-output/report.json')
    if (!existsSync(path)) throw new Error(`No test ran: ${(stdout + stderr).slice(-2_000)}`)
    const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report
    const failed = testResults.find((file) => file.status === 'failed')
    if (!failed) return { test: 'an error outside the tests' }
    const { name, message, assertionResults } = failed
    const test = assertionResults.find((each) => each.status === 'failed')?.fullName
    return { file: relative(this.folder, name), test: test ?? message.split('\n', 1).join() }
  }

  close() {
    execFileSync('git', ['worktree', 'remove', '--force', this.folder])
  }

  private git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.folder, encoding: 'utf8' }).trim()
  }
}

interface Report {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** Links every package of the registry, and copies the relative links to those of this repository, which then lead into the worktree. */
function linkPackages(folder: string) {
  const target = join(folder, 'node_modules')
  mkdirSync(target)
  for (const name of readdirSync('node_modules')) {
    const source = join(process.cwd(), 'node_modules', name)
    if (name === '@lockstep') cpSync(source, join(target, name), { recursive: true, verbatimSymlinks: true })
    else symlinkSync(source, join(target, name))
  }
}
