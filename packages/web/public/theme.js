// Before the first paint, or the page would flash in the other theme. A script of its own: the policy allows no inline one.
try {
  const theme = localStorage.getItem('lockstep/theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be forbidden: the system's theme it is.
}
