/** Every secret of a test contains this word, so that a scan of logs and responses can find it. */
export const MARK = 'hush-hush'
export const PASSWORD = `${MARK} correct horse`
/** Shared by all instances, so that a token of one is valid at the others. */
export const JWT_SECRET = `${MARK}-signing-secret-of-the-tests-0123456789`
