// The same checks for every client. A client is an object with
//
//   user(prompt)                     the messages of a conversation, in the client's form
//   ask(messages, options)           a reply: {text, calls, pieces, input, output, state};
//                                    options: stream, tools, schema, chaos, model
//   answer(messages, reply, results) the messages with the reply and the tools' results
//   error(err)                       {status} if err is the client's own class for that status
//
// calls are {name, args, id}. A client without tools or schemas has tools or schema false.
import assert from 'node:assert/strict'
import test from 'node:test'

export const url = process.env.SIM_URL
if (!url) throw new Error('SIM_URL is not set: run make clients')

// The probe does what the prompt says, line by line.
export const model = 'sim-probe'

export const tool = {
  name: 'weather',
  description: 'The weather of a city.',
  schema: {type: 'object', properties: {city: {type: 'string'}}, required: ['city'], additionalProperties: false},
}

export const place = {
  type: 'object',
  properties: {city: {type: 'string'}, degrees: {type: 'number'}},
  required: ['city', 'degrees'],
  additionalProperties: false,
}

export const chaosHeader = 'X-Sim-Chaos'

const oslo = {city: 'Oslo'}
const rome = {city: 'Rome'}

const bare = calls => calls.map(({name, args}) => ({name, args}))

export function checks(name, client) {
  const {tools = true, schema = true, usage = true} = client
  const cases = {
    text: async () => {
      const r = await client.ask(client.user('say Hello, wörld.'), {})
      assert.equal(r.text, 'Hello, wörld.')
      assert.deepEqual(r.calls ?? [], [])
      if (usage) assert.ok(r.input > 0 && r.output > 0, 'usage')
    },
    stream: async () => {
      const r = await client.ask(client.user('fill 40'), {stream: true})
      assert.equal(r.text, Array.from({length: 40}, (_, i) => `w${i + 1}`).join(' '))
      assert.ok(r.pieces > 3, `${r.pieces} pieces`)
      if (usage) assert.ok(r.input > 0 && r.output > 0, 'usage')
    },
  }
  for (const stream of tools ? [false, true] : []) {
    const how = stream ? 'streamed ' : ''
    cases[how + 'tools'] = async () => {
      let messages = client.user('call weather {"city":"Oslo"}\nthen\nresults')
      const first = await client.ask(messages, {stream, tools: [tool]})
      assert.deepEqual(bare(first.calls), [{name: 'weather', args: oslo}])
      messages = client.answer(messages, first, ['7 degrees'])
      const second = await client.ask(messages, {stream, tools: [tool]})
      assert.equal(second.text, 'weather -> 7 degrees')
    }
    cases[how + 'parallel tools'] = async () => {
      let messages = client.user('say Two.\ncall weather {"city":"Oslo"}\ncall weather {"city":"Rome"}\nthen\nresults')
      const first = await client.ask(messages, {stream, tools: [tool]})
      assert.deepEqual(bare(first.calls), [{name: 'weather', args: oslo}, {name: 'weather', args: rome}])
      messages = client.answer(messages, first, ['7 degrees', '19 degrees'])
      const second = await client.ask(messages, {stream, tools: [tool]})
      assert.equal(second.text, 'weather -> 7 degrees\nweather -> 19 degrees')
    }
  }
  for (const stream of schema ? [false, true] : []) {
    cases[(stream ? 'streamed ' : '') + 'structured output'] = async () => {
      const r = await client.ask(client.user('say {"city":"Oslo","degrees":7}'), {schema: place, stream})
      assert.deepEqual(JSON.parse(r.text), {city: 'Oslo', degrees: 7})
    }
  }
  for (const [chaos, status] of [['unauthorized', 401], ['rate-limit', 429], ['bad-request', 400], ['server-error', 500]]) {
    for (const stream of [false, true]) {
      cases[`${stream ? 'streamed ' : ''}error ${status}`] = () => refused(client, {chaos, stream}, status)
    }
  }
  cases['unknown model'] = () => refused(client, {model: 'none'}, client.unknownModel ?? 404)
  test(name, async t => {
    for (const [what, run] of Object.entries(cases)) await t.test(what, run)
  })
}

async function refused(client, options, status) {
  let reply
  try {
    reply = await client.ask(client.user('say hi'), options)
  } catch (err) {
    const got = client.error(err)
    assert.ok(got, `not the client's own error: ${err?.constructor?.name}: ${err?.message}`)
    assert.equal(got.status, status, err.message)
    return
  }
  assert.fail(`no error, but ${JSON.stringify(reply.text)}`)
}
