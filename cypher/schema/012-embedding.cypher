// Vectors, filtered inside the index. Only properties that never change, and held, are filters: a change of any of
// them indexes the vector again, which costs milliseconds. Quantisation off: answers are exact on the stored vectors.
CREATE VECTOR INDEX memoryEmbedding IF NOT EXISTS
FOR (memory:Memory) ON memory.embedding
WITH [memory.agentId, memory.held, memory.kind]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}
