/**
 * A Trusted Types policy: the browser turns text into HTML, or into the address of a script, only by one of those that the
 * page's Content-Security-Policy names. Browsers without Trusted Types use the same rules, unenforced.
 */
interface Rules {
  createHTML?: (text: string) => string
  createScriptURL?: (url: string) => string
}
interface TrustedTypes {
  createPolicy<R extends Rules>(name: string, rules: R): R
}

/** Each name can be taken once: nothing else in the page can get hold of the policy. */
export function makePolicy<R extends Rules>(name: 'lockstep-markdown' | 'lockstep-worker', rules: R): R {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy(name, rules) ?? rules
}

const OFFLINE_WORKER = '/app/offline.js'
const workers = makePolicy('lockstep-worker', {
  createScriptURL(url: string) {
    if (url !== OFFLINE_WORKER) throw new TypeError('This is not a script of the web client')
    return url
  },
})

export const offlineWorker = () => workers.createScriptURL(OFFLINE_WORKER)
