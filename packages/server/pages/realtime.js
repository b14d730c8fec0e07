// A client of the socket in a page: it counts the events it has seen, and heals a gap by coming back with `since`.
const find = (selector) => document.querySelector(selector)
let token = ''
let board = ''
/** `<epoch>` and the number of the last event that was seen. */
let epoch = 0
let seen = 0
let socket
let isSkipping = false

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = response.status === 204 ? undefined : await response.json()
  if (!response.ok) throw new Error(answer.detail)
  return answer
}

function row(seq, type, message, style = '') {
  const line = document.createElement('tr')
  line.className = style
  for (const text of [new Date().toLocaleTimeString(), seq ?? '', type, message]) {
    line.append(Object.assign(document.createElement('td'), { textContent: text, title: text }))
  }
  find('#frames').prepend(line)
  while (find('#frames').children.length > 200) find('#frames').lastChild.remove()
}
const show = (state) => {
  find('#state').textContent = state
  find('#position').textContent = `${epoch}.${seen}`
}

async function connect() {
  const { ticket } = await call('POST', '/auth/ticket')
  const from = epoch === 0 ? 'seq=1' : `since=${epoch}.${seen}`
  const own = new WebSocket(`${location.origin.replace('http', 'ws')}/ws/boards/${board}?token=${ticket}&${from}`)
  socket = own
  own.onopen = () => show('connected')
  own.onmessage = ({ data }) => own === socket && take(data)
  own.onclose = ({ code, reason }) => {
    if (own !== socket) return
    row('', `closed ${code}`, reason, 'note')
    show('offline')
    if (code !== 1008 && code !== 1000) setTimeout(() => void guard(connect), 500)
  }
}

function take(text) {
  const message = JSON.parse(text)
  const { type, seq } = message
  if (type === 'ping') socket.send('{"type":"pong"}')
  if (type === 'hello' && epoch === 0) [epoch, seen] = [message.epoch, message.seq]
  if (type === 'resync') [epoch, seen] = [message.epoch, message.seq]
  if (message.version === undefined) {
    row(seq, type, text)
    return show('connected')
  }
  if (isSkipping) {
    isSkipping = false
    return row(seq, type, 'skipped, as if it had been lost on the way', 'skipped')
  }
  if (seq !== seen + 1) {
    row('', 'gap', `${seq} came after ${seen}: coming back with since=${epoch}.${seen}`, 'note')
    const lost = socket
    socket = undefined
    lost.close()
    return void guard(connect)
  }
  seen = seq
  row(seq, type, text)
  show('connected')
}

async function listBoards(select) {
  const boards = await call('GET', '/boards')
  find('select').replaceChildren(...boards.map(({ id, title }) => new Option(title, id, false, id === select)))
}

/** Runs something, and says what went wrong. */
async function guard(work) {
  find('#problem').textContent = ''
  try {
    await work()
  } catch (error) {
    find('#problem').textContent = error.message
  }
}

find('#login').onsubmit = (event) => {
  event.preventDefault()
  void guard(async () => {
    const response = await fetch('/auth/login', {
      method: 'POST',
      body: new URLSearchParams(new FormData(event.target)),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.detail)
    token = answer.access_token
    await listBoards()
    find('#login').hidden = true
    find('#connect').hidden = false
  })
}
find('#new-board').onclick = () =>
  void guard(async () => listBoards((await call('POST', '/boards', { title: 'Real-time trial' })).id))
find('#connect').onsubmit = (event) => {
  event.preventDefault()
  board = new FormData(event.target).get('board')
  ;[epoch, seen] = [0, 0]
  const old = socket
  socket = undefined
  old?.close()
  find('#panel').hidden = false
  void guard(connect)
}
find('#change').onclick = () =>
  guard(() => call('POST', `/boards/${board}/columns`, { title: `Column of ${new Date().toLocaleTimeString()}` }))
find('#drop').onclick = () => socket?.close(4000, 'dropped by hand')
find('#skip').onclick = () => {
  isSkipping = true
  row('', 'skip', 'the next event will be ignored', 'note')
}
