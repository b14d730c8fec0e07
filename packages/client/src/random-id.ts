/**
 * A random UUID of version 4: every 0, 1 and 8 of the template becomes a random digit, and the 8 one of 8 to b.
 * `crypto.randomUUID` is missing on pages without TLS.
 */
export const randomId = (): string =>
  '10000000-1000-4000-8000-100000000000'.replaceAll(/[018]/g, (digit) => {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1))
    return (Number(digit) ^ (byte & (15 >> (Number(digit) / 4)))).toString(16)
  })
