import { expect, test } from 'vitest'

test('[SEC-8] each policy does one thing, for every input', async () => {
  const made = new Map<string, Record<string, (text: string) => string>>()
  Object.assign(globalThis, {
    trustedTypes: {
      createPolicy: (name: string, rules: Record<string, (text: string) => string>) => {
        made.set(name, rules)
        return rules
      },
    },
  })
  await Promise.all([import('./trusted.ts'), import('../card/markdown.tsx')])
  expect([...made.keys()].sort()).toEqual(['lockstep-markdown', 'lockstep-worker'])
  const markdown = made.get('lockstep-markdown')
  expect(Object.keys(markdown ?? {})).toEqual(['createHTML'])
  expect(markdown?.['createHTML']?.('<img src=x onerror=alert(1)>')).toBe('&lt;img src=x onerror=alert(1)&gt;')
  const worker = made.get('lockstep-worker')
  expect(Object.keys(worker ?? {})).toEqual(['createScriptURL'])
  expect(worker?.['createScriptURL']?.('/app/offline.js')).toBe('/app/offline.js')
  for (const url of ['/attachments/x', 'https://evil.example/', '/app/offline.js?x', 'data:text/javascript,1'])
    expect(() => worker?.['createScriptURL']?.(url)).toThrow(TypeError)
})
