// What a run used and wrote: the memories that its prompt showed a language model, and those that came of it.
// :param agentId => 'ines'
// :param id => 'the id of a run, as graphmem runs lists them'
// Returns: run NODE, used PATH or null
MATCH (run:Run {agentId: $agentId, id: $id})
OPTIONAL MATCH used = (run)-[:USED|PRODUCED_BY]-(:Memory)
RETURN run, used
