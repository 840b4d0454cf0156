import {Mistral} from '@mistralai/mistralai'
import {HTTPValidationError, SDKError, MistralError} from '@mistralai/mistralai/models/errors'
import {chaosHeader, checks, model, url} from './support.mjs'

const client = new Mistral({apiKey: 'none', serverURL: `${url}/mistral`, retryConfig: {strategy: 'none'}})

checks('mistral', {
  user: prompt => [{role: 'system', content: 'Obey.'}, {role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const request = {model: name, messages}
    if (tools) request.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema}}))
    if (schema) request.responseFormat = {type: 'json_schema', jsonSchema: {name: 'place', schemaDefinition: schema, strict: true}}
    const options = {headers: chaos ? {[chaosHeader]: chaos} : {}}
    if (!stream) {
      const done = await client.chat.complete(request, options)
      return read(done.choices[0].message, 1, done.usage)
    }
    const message = {role: 'assistant', content: '', toolCalls: []}
    let pieces = 0
    let usage
    for await (const {data} of await client.chat.stream(request, options)) {
      usage = data.usage ?? usage
      const delta = data.choices[0]?.delta ?? {}
      if (delta.content) {
        message.content += delta.content
        pieces++
      }
      for (const c of delta.toolCalls ?? []) {
        const known = message.toolCalls[c.index]
        if (known) known.function.arguments += c.function.arguments
        else message.toolCalls[c.index] = structuredClone(c)
      }
    }
    return read(message, pieces, usage)
  },
  answer: (messages, reply, results) => [...messages, {role: 'assistant', content: reply.text, toolCalls: reply.state}, ...results.map((content, i) => ({role: 'tool', toolCallId: reply.calls[i].id, name: reply.calls[i].name, content}))],
  error: err => err instanceof MistralError && (err instanceof SDKError || err instanceof HTTPValidationError) ? {status: err.statusCode} : null,
})

function read(m, pieces, usage) {
  const calls = (m.toolCalls ?? []).map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)}))
  return {text: m.content ?? '', calls, pieces, input: usage?.promptTokens, output: usage?.completionTokens, state: m.toolCalls}
}
