import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SecretBox } from './secret-box.ts'

const newKey = () => randomBytes(32).toString('base64')
const key = newKey()
const box = new SecretBox(key)
const text = 'whsec_ü€🔑'

test('[SECRET-1] a secret opens with its key and its context, and no two boxes are equal', () => {
  const closed = box.close(text, 'webhooks:1')
  expect(new SecretBox(key).open(closed, 'webhooks:1')).toBe(text)
  expect(box.open(box.close('', 'webhooks:1'), 'webhooks:1')).toBe('')
  expect(closed.includes('whsec_')).toBe(false)
  const all = Array.from({ length: 1_000 }, () => box.close(text, 'webhooks:1').toString('hex'))
  expect(new Set(all).size).toBe(1_000)
})

test('[SECRET-1] it does not open with another context or another key', () => {
  const closed = box.close(text, 'webhooks:1')
  for (const context of ['webhooks:2', 'webhooks:', '', 'other:1']) expect(() => box.open(closed, context)).toThrow()
  expect(() => new SecretBox(newKey()).open(closed, 'webhooks:1')).toThrow(
    'A secret was encrypted with a key that is not set',
  )
})

test('[SECRET-1] a box with any bit changed, cut anywhere or made longer does not open', () => {
  const closed = box.close(text, 'webhooks:1')
  for (let bit = 0; bit < closed.length * 8; bit++) {
    const changed = Buffer.from(closed)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    expect(() => box.open(changed, 'webhooks:1')).toThrow()
  }
  for (let length = 0; length < closed.length; length++)
    expect(() => box.open(closed.subarray(0, length), 'webhooks:1')).toThrow()
  expect(() => box.open(Buffer.concat([closed, Buffer.alloc(1)]), 'webhooks:1')).toThrow()
})

test('[SECRET-2] the previous key opens and never closes', () => {
  const next = newKey()
  const old = box.close(text, 'webhooks:1')
  const rotated = new SecretBox(next, key)
  expect([rotated.open(old, 'webhooks:1'), rotated.isCurrent(old)]).toEqual([text, false])
  const again = rotated.close(text, 'webhooks:1')
  expect(rotated.isCurrent(again)).toBe(true)
  expect(new SecretBox(next).open(again, 'webhooks:1')).toBe(text)
  expect(() => box.open(again, 'webhooks:1')).toThrow()
  expect(() => new SecretBox(next).open(old, 'webhooks:1')).toThrow()
})

test('[SECRET-2] a key of another size is refused, and the error does not contain it', () => {
  for (const bytes of [0, 16, 31, 33]) {
    const bad = randomBytes(bytes).toString('base64')
    expect(() => new SecretBox(bad)).toThrow('An encryption key is not 32 bytes in base64')
  }
})
