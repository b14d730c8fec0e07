// Runs before the first paint, so that the page does not flash in the wrong theme. A separate file, because the
// Content-Security-Policy forbids inline scripts.
try {
  const theme = localStorage.getItem('lockstep/theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be blocked: use the system's theme.
}
