import assert from 'node:assert/strict'
import test from 'node:test'
import {Ollama} from 'ollama'
import {chaosHeader, checks, model, url} from './support.mjs'

const connect = chaos => new Ollama({host: url, headers: chaos ? {[chaosHeader]: chaos} : {}})

checks('ollama', {
  user: prompt => [{role: 'system', content: 'Obey.'}, {role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const request = {model: name, messages, stream: Boolean(stream)}
    if (tools) request.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema}}))
    if (schema) request.format = schema
    const chunks = []
    if (stream) {
      for await (const chunk of await connect(chaos).chat(request)) chunks.push(chunk)
    } else {
      chunks.push(await connect(chaos).chat(request))
    }
    const text = chunks.map(c => c.message.content).join('')
    const calls = chunks.flatMap(c => c.message.tool_calls ?? [])
    const end = chunks.at(-1)
    return {
      text, calls: calls.map(c => ({name: c.function.name, args: c.function.arguments})), pieces: chunks.length,
      input: end.prompt_eval_count, output: end.eval_count, state: {role: 'assistant', content: text, tool_calls: calls},
    }
  },
  answer: (messages, reply, results) => [...messages, reply.state, ...results.map((content, i) => ({role: 'tool', tool_name: reply.calls[i].name, content}))],
  error: err => err.name === 'ResponseError' ? {status: err.status_code} : null, // the class is not exported
})

test('ollama: list, show and version', async () => {
  const {models} = await connect().list()
  const listed = models.find(m => m.name.startsWith(model))
  assert.ok(listed)
  const r = await connect().chat({model: listed.name, messages: [{role: 'user', content: 'say hi'}]})
  assert.equal(r.message.content, 'hi')
  const shown = await connect().show({model: listed.name})
  assert.ok(shown.capabilities.includes('tools'))
  await assert.rejects(connect().show({model: 'none'}), err => err.name === 'ResponseError' && err.status_code === 404)
  assert.match((await connect().version()).version, /simulated/)
})
