/** Browsers that know Trusted Types let nothing but this policy make HTML or worker addresses of text; others need none. */
interface Policy {
  createHTML(text: string): string
  createScriptURL(url: string): string
}
interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}
const same = (text: string) => text
const rules: Policy = { createHTML: same, createScriptURL: same }
const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
const policy = types?.createPolicy('lockstep', rules) ?? rules

/** Only for what a parser of ours has made, with everything of the user's in it escaped. */
export const trustedHtml = (html: string) => policy.createHTML(html)
export const trustedWorker = (path: '/app/offline.js') => policy.createScriptURL(path)
