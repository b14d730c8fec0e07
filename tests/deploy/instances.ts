import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@lockstep/testing/ports'
import { eventually, launch, newFolder, type RunningProcess } from '@lockstep/testing/processes'
import { databaseUrl, onServer, REDIS } from '@lockstep/testing/template-database'
import pg from 'pg'
import { buildImage, type Image } from '../../scripts/image.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Instance extends RunningProcess {
  baseUrl: string
  port: number
  /** Runs the health check of the image. Returns its exit code. */
  checkHealth: () => Promise<number | null>
}

/** Builds the image of this working copy in a plain directory. */
export const imageOf = async (rebuild?: { dockerfile: string; built: Map<string, Promise<Image>> }) =>
  buildImage({ root: ROOT.replace(/\/$/, ''), folder: await newFolder(), node: process.execPath, ...rebuild })

/** Settings for instances with a new database, and a function to drop it. */
export async function newSettings() {
  const name = `lockstep_deploy_${randomBytes(6).toString('hex')}`
  await onServer((client) => client.query(`create database ${name}`))
  const settings = {
    DATABASE_URL: databaseUrl(name),
    REDIS_URL: REDIS,
    JWT_SECRET: 'hush-hush-signing-secret-of-the-deployment-tests',
    TRUST_PROXY: '1',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'info',
  }
  const drop = () => onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  return { settings, drop }
}

export interface AppRole {
  name: string
  url: string
  drop: () => Promise<unknown>
}

/** Creates the role of the service with deploy/postgres/roles.sql. */
export async function makeRole(ownerUrl: string): Promise<AppRole> {
  const name = `lockstep_app_${randomBytes(4).toString('hex')}`
  const shipped = await readFile(new URL('deploy/postgres/roles.sql', `file://${ROOT}`), 'utf8')
  const statements = shipped
    // The test database already has an owner.
    .replaceAll(/^(create role lockstep_migrator|alter database ).*\n/gm, '')
    .replaceAll('lockstep_migrator', new URL(ownerUrl).username)
    .replaceAll('lockstep_app', name)
    .replaceAll(' database lockstep ', ` database ${new URL(ownerUrl).pathname.slice(1)} `)
  assert.match(statements, new RegExp(`create role ${name}`))
  const onDatabase = async (text: string) => {
    const client = new pg.Client({ connectionString: ownerUrl })
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }
  await onDatabase(statements)
  const url = Object.assign(new URL(ownerUrl), { username: name }).href
  return { name, url, drop: () => onDatabase(`drop owned by ${name}; drop role ${name}`) }
}

/**
 * Runs a program of the image like a container: with the image as its root directory, as its unprivileged user, and with the
 * environment of the image and the settings.
 */
export function runInImage(image: Image, command: string[], settings: Record<string, string>): RunningProcess {
  const [uid = '', gid = ''] = image.user.split(':')
  const confined = [`--root=${image.folder}`, `--wd=${image.workdir}`, `--setuid=${uid}`, `--setgid=${gid}`]
  return launch('/usr/bin/unshare', [...confined, ...command], { env: { ...image.env, ...settings } })
}

export async function startInstance(image: Image, settings: Record<string, string>): Promise<Instance> {
  const port = await freePort()
  const env = { ...settings, HOST: '127.0.0.1', PORT: String(port) }
  const running = runInImage(image, image.command, env)
  const baseUrl = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${baseUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await eventually('the instance is ready', async () => running.hasEnded() || (await isReady()))
  if (running.hasEnded()) throw new Error(`The image does not start: ${running.output()}`)
  return { ...running, baseUrl, port, checkHealth: () => runInImage(image, image.healthcheck, env).ended }
}
