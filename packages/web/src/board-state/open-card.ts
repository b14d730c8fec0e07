/** The card whose dialog is open, from the URL. */
export const openCardId = () => /^\/app\/b\/[^/]+\/c\/([^/]+)/.exec(location.pathname)?.[1]
