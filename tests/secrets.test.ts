import { expect, test } from 'vitest'
import { findSecrets } from '../scripts/secrets.ts'

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMWExIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ'

test.each([
  ['a token in an address', `{"url":"/ws/boards/x?token=${token}"}`],
  ['a token in a header', `{"authorization":"Bearer ${token}"}`],
  ['an access token', '{"authorization":"Bearer lsp_0123456789ABCDEFGHIJKLMNOPQRSTabcdef"}'],
  ['a password', '{"body":{"password":"hush-hush correct horse"}}'],
  ['a hash', '{"hash":"$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"}'],
  ['a column with the hash', '{"hashed_password":"x"}'],
])('[REQ-17] [V17] [V28] the scan of the test run finds %s', (_, line) => {
  expect(findSecrets('log', `{"msg":"request"}\n${line}\n`)).toEqual([expect.stringMatching(/^log:2 contains/)])
})

test('[REQ-17] the scan reports nothing in an ordinary line', () => {
  expect(findSecrets('log', '{"method":"POST","route":"/auth/login","status":200}\n')).toEqual([])
})
