// An agent made with LangChain: it answers the question in its first argument, with the
// tools of the MCP server at MCP_URL.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';

const servers = new MultiServerMCPClient({ mcpServers: { tools: { transport: 'http', url: process.env.MCP_URL } } });
try {
  const agent = createAgent({
    model: new ChatOpenAI({ model: 'gpt-5-mini' }), // reads OPENAI_BASE_URL and OPENAI_API_KEY
    tools: await servers.getTools(),
    systemPrompt: 'You are a helpful assistant. Weeks start on Monday.',
  });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: process.argv[2] }] });
  console.log(messages.at(-1).content);
} finally {
  await servers.close();
}
