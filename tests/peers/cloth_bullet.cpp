// The cloth of cloth_bench.c under Bullet's soft bodies: as many passes over the same links. cloth_bullet [N] [STEPS] [PASSES]
#include <btBulletDynamicsCommon.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

// Processor time of this thread, ms.
static double ms_now()
{
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 100, steps = argc > 2 ? atoi(argv[2]) : 300, passes = argc > 3 ? atoi(argv[3]) : 8;
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btSoftRigidDynamicsWorld world(&dispatcher, &broad, &solver, &configuration);
  world.setGravity(btVector3(0, 0, -9.81f));
  world.getWorldInfo().m_gravity.setValue(0, 0, -9.81f);
  std::vector<btVector3> x;
  std::vector<btScalar> mass;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      x.push_back(btVector3(0.01f * i, 0.01f * j, 2));
      mass.push_back(i == 0 && (j == 0 || j == n - 1) ? 0 : 1e-4f);
    }
  btSoftBody *cloth = new btSoftBody(&world.getWorldInfo(), n * n, x.data(), mass.data());
  const int reach[6][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 0}, {0, 2}};
  for (auto &r : reach)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (i + r[0] < n && j + r[1] >= 0 && j + r[1] < n) cloth->appendLink(i * n + j, (i + r[0]) * n + j + r[1]);
  cloth->m_cfg.piterations = passes;
  cloth->m_cfg.collisions = 0;
  cloth->m_cfg.kDP = 0;
  world.addSoftBody(cloth, 0, 0);
  std::vector<double> each;
  for (int k = 0; k < steps; k++) {
    double t = ms_now();
    world.stepSimulation(1.0f / 60, 0);
    each.push_back(ms_now() - t);
  }
  std::sort(each.begin(), each.end());
  double median = each[each.size() / 2];
  printf("bullet-soft n=%d springs=%d median_ms=%.4f ns=%.3f best_ns=%.3f low=%.4f\n", n, cloth->m_links.size(), median, 1e6 * median / (double(passes) * cloth->m_links.size()),
         1e6 * each[0] / (double(passes) * cloth->m_links.size()),
         cloth->m_nodes[n * n - n / 2].m_x.z());
  fflush(stdout);
  _Exit(0);
}
