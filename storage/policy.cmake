# Eviction: which entry of a full tier goes next.
kvloom_library(policy
  SOURCES policy/entry_heap.cpp policy/eviction_policy.cpp
          policy/ranked_policy.cpp policy/ranking.cpp
  PUBLIC kvloom_core)
